import type { PaymentLifecycle } from '../payment/paymentLifecycle.ts'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface OpenWorkDeps extends RepeatDeps {
  readonly lifecycle: Pick<PaymentLifecycle, 'followOpenWork'>
  /** Called after each round, for the metrics. A late job does not make payments wrong. */
  readonly onLag?: (lag: { readonly events: number }) => void
}

const everyMs = 1_000
// Limit of steps a round, so that other jobs get their turn.
const stepsMax = 20

/** Keeps the list of open payments up to date with the log. Any instance may run it at any time. */
export function startOpenWorkJob(deps: OpenWorkDeps): Repeated {
  return repeat(deps, { name: 'open work', everyMs, run: () => followOpenWork(deps) })
}

/** Catches up with the ledger in bounded steps. The rest after `stepsMax` steps waits for the next run. */
export async function followOpenWork({ lifecycle, onLag }: OpenWorkDeps): Promise<void> {
  for (let step = 1; step <= stepsMax; step++) {
    const events = await lifecycle.followOpenWork()
    onLag?.({ events })
    if (events === 0) return
  }
}
