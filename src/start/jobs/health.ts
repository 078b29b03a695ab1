import type { HealthCheck } from '../../transport/freeRoute.ts'

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
  readonly checks: readonly HealthCheck[]
  readonly whyNoQuotes: () => string | undefined
}

/** Paid requests are closed by the first failing check that concerns them and every product. */
export function createHealth({ checks: all, whyNoQuotes }: HealthDeps): Health {
  const checks = all.map((check) => muteConsequence(check, all))
  const closing = checks.filter(({ quotesOnly, someProductsOnly }) => quotesOnly !== true && someProductsOnly !== true)
  let draining = false
  return {
    checks,
    whyClosed() {
      if (draining) return 'the server is shutting down'
      for (const check of closing) {
        const problem = check.problem()
        if (problem !== undefined) return problem
      }
      return undefined
    },
    whyNoQuotes,
    isDraining: () => draining,
    startDraining() {
      draining = true
    },
  }
}

/** A check that cannot read the ledger would report something else than the cause, with other advice. */
function muteConsequence(check: HealthCheck, all: readonly HealthCheck[]): HealthCheck {
  const causes = all.filter(({ name }) => check.causes?.includes(name) === true)
  const mutedBy = () => causes.find(({ problem }) => problem() !== undefined)?.name
  return { ...check, mutedBy, problem: () => (mutedBy() === undefined ? check.problem() : undefined) }
}
