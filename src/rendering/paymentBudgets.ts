import { LRUCache } from 'lru-cache'

/** Remaining browser time of each payment. A payment that has bought its answer is never used again. */
export interface PaymentBudgets {
  /** At least one second, so that a last attempt that the ledger permits ends with its own error. */
  leftMs(payment: string): number
  /** Total time of all ended attempts. */
  spentMs(payment: string): number
  isSpent(payment: string): boolean
  charge(payment: string, ms: number): void
}

// Number of payments with a failed attempt that are remembered. Forgetting one early costs at most its attempts
// (decision 0021).
const paymentsMax = 10_000
const leastMs = 1_000

/** Creates budgets in bounded memory. A restart renews the budget of each payment. */
export function createPaymentBudgets(paymentTimeMs: number): PaymentBudgets {
  const spent = new LRUCache<string, number>({ max: paymentsMax })
  const spentMs = (payment: string) => spent.get(payment) ?? 0
  return {
    leftMs: (payment) => Math.max(paymentTimeMs - spentMs(payment), leastMs),
    spentMs,
    isSpent: (payment) => spentMs(payment) >= paymentTimeMs,
    charge: (payment, ms) => void spent.set(payment, spentMs(payment) + ms),
  }
}
