import type { HealthCheck } from '../../transport/freeRoute.ts'

export type Health = ReturnType<typeof createHealth>

/**
 * Creates the health of the service. Paid requests are refused while a check fails that applies to them and to every
 * product.
 */
export function createHealth(all: readonly HealthCheck[]) {
  const checks = all.map((check) => muteConsequence(check, all))
  const closing = checks.filter(({ quotesOnly, someProductsOnly }) => quotesOnly !== true && someProductsOnly !== true)
  let draining = false
  return {
    checks,
    whyClosed(): string | undefined {
      if (draining) return 'the server is shutting down'
      for (const check of closing) {
        const problem = check.problem()
        if (problem !== undefined) return problem
      }
      return undefined
    },
    isDraining: () => draining,
    startDraining() {
      draining = true
    },
  }
}

/**
 * Mutes a check while one of its causes fails. Without this, a check that cannot read the ledger would report a
 * different problem, with wrong advice.
 */
function muteConsequence(check: HealthCheck, all: readonly HealthCheck[]): HealthCheck {
  const causes = all.filter(({ name }) => check.causes?.includes(name) === true)
  const mutedBy = () => causes.find(({ problem }) => problem() !== undefined)?.name
  return { ...check, mutedBy, problem: () => (mutedBy() === undefined ? check.problem() : undefined) }
}
