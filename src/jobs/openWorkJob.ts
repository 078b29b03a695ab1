import type { PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface OpenWorkDeps extends RepeatDeps {
  readonly lifecycle: Pick<PaymentLifecycle, 'followOpenWork'>
}

const everyMs = 1_000
// Maximum of steps per run, so that other jobs can run in between.
const stepsMax = 20

/**
 * Starts to update the list of open work. Any instance may run this at any time, because the database lets one session
 * at a time update the list.
 */
export function startOpenWorkJob(deps: OpenWorkDeps): Repeated {
  return repeat(deps, { name: 'open work', everyMs, run: () => followOpenWork(deps) })
}

/** Adds new events to the list of open work, in at most `stepsMax` steps. The remaining events wait for the next run. */
export async function followOpenWork({ lifecycle }: Pick<OpenWorkDeps, 'lifecycle'>): Promise<void> {
  for (let step = 1; step <= stepsMax; step++) if ((await lifecycle.followOpenWork()) === 0) return
}
