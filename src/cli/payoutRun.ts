import type { Payout } from '../payout/openPayout.ts'
import type { CommandDeps } from './commandDeps.ts'
import { openPayoutAccess } from './payoutAccess.ts'
import { runWith } from './runCommand.ts'

const interruptedExitCode = 130

/** Opens the payouts in the mint, does the work, and turns its failure into a message and an exit code. */
export function runPayout(
  deps: CommandDeps,
  mint: () => Promise<string | undefined>,
  work: (payout: Payout) => Promise<void>,
): Promise<void> {
  return runWith(
    deps,
    async () => openPayoutAccess(deps, await mint()),
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
