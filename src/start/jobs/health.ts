import type { HealthCheck } from '../../http/freeRoutes.ts'
import type { HealthJobs } from '../../jobs/healthJobs.ts'

/** Whether the service sells, and why not. */
export interface Health {
  readonly checks: readonly HealthCheck[]
  /** Undefined while paid requests are accepted. */
  whyClosed(): string | undefined
  /** Undefined while quotes are made. A caller who has paid is served anyway. */
  whyNoQuotes(): string | undefined
  isDraining(): boolean
  startDraining(): void
}

export interface HealthDeps {
  readonly jobs: Pick<HealthJobs, 'checks' | 'problem' | 'whyNoQuotes'>
  readonly seal: { readonly check: HealthCheck }
  readonly settings: { readonly check: HealthCheck }
  readonly prices: { readonly checks: readonly HealthCheck[] }
  readonly lifecycle: { readonly checks: readonly HealthCheck[] }
  readonly catalog: { readonly checks: readonly HealthCheck[] }
}

export function createHealth({ jobs, seal, settings, prices, lifecycle, catalog }: HealthDeps): Health {
  let draining = false
  return {
    checks: [...jobs.checks, seal.check, settings.check, ...prices.checks, ...lifecycle.checks, ...catalog.checks],
    whyClosed: () =>
      draining ? 'the server is shutting down' : (seal.check.problem() ?? settings.check.problem() ?? jobs.problem()),
    whyNoQuotes: jobs.whyNoQuotes,
    isDraining: () => draining,
    startDraining() {
      draining = true
    },
  }
}
