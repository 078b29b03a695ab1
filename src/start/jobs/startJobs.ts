import type { Chain } from '../../chain/openChain.ts'
import type { LifecycleSettings } from '../../config/saleSettings.ts'
import type { HealthCheck } from '../../http/freeRoutes.ts'
import { type HealthJobsDeps, startHealthJobs } from '../../jobs/healthJobs.ts'
import { close } from '../closePart.ts'
import { type LifecycleJobsDeps, openLifecycle } from './openLifecycle.ts'

/** Background work: the health of ledger and chain, and payments after their answers. */
export interface Jobs {
  readonly checks: readonly HealthCheck[]
  /** Why no quotes are made, although a caller who has paid is served. */
  readonly whyNoQuotes: () => string | undefined
  /** Undefined while the amount served for payments that are not final is within the operator's limit. */
  readonly whyExposed: () => Promise<string | undefined>
  /** A slot that the chain has certainly reached. */
  readonly slot: () => number
  close(): Promise<void>
}

export interface JobsDeps extends LifecycleJobsDeps {
  readonly chain: Chain
  readonly upkeep: HealthJobsDeps['ledger']
}

export async function startJobs(settings: LifecycleSettings, deps: JobsDeps): Promise<Jobs> {
  const { clock, log, chain, upkeep } = deps
  await using opened = new AsyncDisposableStack()
  const health = await startHealthJobs({ clock, log, ledger: upkeep, chain })
  opened.defer(health.stop)
  const lifecycle = opened.adopt(openLifecycle(settings, deps), close)
  const stored = opened.move()
  return {
    checks: [...health.checks, ...lifecycle.checks],
    whyNoQuotes: health.whyNoQuotes,
    whyExposed: lifecycle.whyExposed,
    slot: health.slot,
    close: () => stored.disposeAsync(),
  }
}
