import { LRUCache } from 'lru-cache'

/** Browser time that each payment has left. A payment that has bought its answer is never used again. */
export interface PaymentBudgets {
  /** An attempt that the ledger still permits gets a second, so that it ends in its own words. */
  leftMs(payment: string): number
  /** Time of all attempts that have ended. */
  spentMs(payment: string): number
  isSpent(payment: string): boolean
  charge(payment: string, ms: number): void
}

// Payments with a failed attempt; forgetting one early costs at most its attempts (decision 0021).
const paymentsMax = 10_000
const leastMs = 1_000

/** Budgets are in memory and bounded: a restart renews the budget of a payment. */
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
