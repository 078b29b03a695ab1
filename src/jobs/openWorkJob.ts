import type { PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface OpenWorkDeps extends RepeatDeps {
  readonly lifecycle: Pick<PaymentLifecycle, 'followOpenWork'>
}

const everyMs = 1_000
// Limit of steps a round, so that other jobs get their turn.
const stepsMax = 20

/** Keeps the list of open payments up to date with the log. Any instance may run it at any time. */
export function startOpenWorkJob(deps: OpenWorkDeps): Repeated {
  return repeat(deps, { name: 'open work', everyMs, run: () => followOpenWork(deps) })
}

/** Catches up with the ledger in bounded steps. The rest after `stepsMax` steps waits for the next run. */
export async function followOpenWork({ lifecycle }: Pick<OpenWorkDeps, 'lifecycle'>): Promise<void> {
  for (let step = 1; step <= stepsMax; step++) if ((await lifecycle.followOpenWork()) === 0) return
}
