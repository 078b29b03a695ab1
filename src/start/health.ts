import type { HealthCheck } from '../http/freeRoutes.ts'
import type { Watches } from '../jobs/watches.ts'

/** Whether the service sells, and why not. */
export interface Health {
  readonly checks: readonly HealthCheck[]
  /** Undefined while paid requests are accepted. */
  whyClosed(): string | undefined
  isDraining(): boolean
  startDraining(): void
}

export interface HealthDeps {
  readonly watches: Pick<Watches, 'checks' | 'problem'>
  readonly seal: { readonly check: HealthCheck }
  readonly prices: { readonly checks: readonly HealthCheck[] }
  readonly lifecycle: { readonly checks: readonly HealthCheck[] }
}

export function createHealth({ watches, seal, prices, lifecycle }: HealthDeps): Health {
  let draining = false
  return {
    checks: [...watches.checks, seal.check, ...prices.checks, ...lifecycle.checks],
    whyClosed: () => (draining ? 'the server is shutting down' : (seal.check.problem() ?? watches.problem())),
    isDraining: () => draining,
    startDraining() {
      draining = true
    },
  }
}
