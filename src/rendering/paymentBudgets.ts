import { LRUCache } from 'lru-cache'

export type PaymentBudgets = ReturnType<typeof createPaymentBudgets>

// Maximum number of payments with a failed attempt that are kept in memory. If one is dropped early, its time budget
// starts again, and the cost is at most its further attempts (decision 0021).
const paymentsMax = 10_000
const leastMs = 1_000

/** Counts the browser time of each payment, in bounded memory. A restart renews all budgets. */
export function createPaymentBudgets(paymentTimeMs: number) {
  const spent = new LRUCache<string, number>({ max: paymentsMax })
  const spentMs = (payment: string) => spent.get(payment) ?? 0
  return {
    /**
     * Milliseconds that the payment has left. At least one second, so that a last attempt that the ledger permits ends
     * with its own error.
     */
    leftMs: (payment: string) => Math.max(paymentTimeMs - spentMs(payment), leastMs),
    spentMs,
    isSpent: (payment: string) => spentMs(payment) >= paymentTimeMs,
    charge: (payment: string, ms: number) => void spent.set(payment, spentMs(payment) + ms),
  }
}
