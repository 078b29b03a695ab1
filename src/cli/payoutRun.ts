import { errorText, Fault } from '@tollbook/core/fault'
import type { Payout } from '../payout/openPayout.ts'
import type { CommandDeps } from './commandDeps.ts'
import { openPayoutAccess } from './payoutAccess.ts'
import { exitCodeOf } from './exitCode.ts'
import { UsageProblem } from './usageProblem.ts'

const interruptedExitCode = 130

/** Opens the payouts, does the work, and turns its failure into a message and an exit code. */
export async function runPayout(deps: CommandDeps, work: (payout: Payout) => Promise<void>): Promise<void> {
  try {
    const payout = await openPayoutAccess(deps)
    try {
      await work(payout)
    } finally {
      await payout.close()
    }
    deps.setExitCode(0)
  } catch (error) {
    if (deps.interrupted.aborted) {
      deps.stderr.write('interrupted; run the command again to continue\n')
      deps.setExitCode(interruptedExitCode)
      return
    }
    if (!(error instanceof UsageProblem || error instanceof Fault)) throw error
    deps.stderr.write(`${errorText(error)}\n`)
    deps.setExitCode(exitCodeOf(error))
  }
}
