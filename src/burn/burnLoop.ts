import type { Clock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { BurnOutcome } from './burnRound.ts'
import type { Burner } from './openBurner.ts'

export interface BurnLoopDeps {
  readonly burner: Pick<Burner, 'burnOnce'>
  readonly clock: Clock
  readonly log: Log
  readonly everyMs: number
}

// Pause after a failed or undecided round, so that the next attempt does not wait for the whole interval.
const againMs = 60_000

export async function burnUntilStopped(deps: BurnLoopDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const waitMs = (await runOnce(deps, stopping)) ? deps.everyMs : Math.min(deps.everyMs, againMs)
    await deps.clock.sleep(waitMs, stopping).catch(() => undefined)
  }
}

const settledOutcomes: ReadonlySet<BurnOutcome['outcome']> = new Set(['nothing_owed', 'confirmed'])

/** False if another run should follow soon. */
async function runOnce({ burner, log }: BurnLoopDeps, stopping: AbortSignal): Promise<boolean> {
  try {
    const { outcome } = await burner.burnOnce(stopping)
    return settledOutcomes.has(outcome)
  } catch (error) {
    log.error({ event: 'burn_job_failed', error: describeError(error) })
    return false
  }
}
