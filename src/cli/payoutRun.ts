import type { Payout } from '../payout/openPayout.ts'
import type { CommandDeps } from './commandDeps.ts'
import { openPayoutAccess } from './payoutAccess.ts'
import { runWith } from './runCommand.ts'

const interruptedExitCode = 130

/** Opens the payouts, does the work, and turns its failure into a message and an exit code. */
export function runPayout(deps: CommandDeps, work: (payout: Payout) => Promise<void>): Promise<void> {
  return runWith(
    deps,
    () => openPayoutAccess(deps),
    async (payout) => {
      try {
        await work(payout)
        return 0
      } catch (error) {
        if (!deps.interrupted.aborted) throw error
        deps.stderr.write('interrupted; run the command again to continue\n')
        return interruptedExitCode
      }
    },
  )
}
