import { LRUCache } from 'lru-cache'

export type PaymentBudgets = ReturnType<typeof createPaymentBudgets>

// If a payment with a failed attempt is dropped early, its time budget starts again. The cost is at most its further
// attempts (decision 0021).
const paymentsMax = 10_000
const leastMs = 1_000

/** Creates the time budgets of payments. Memory is bounded, and a restart renews all budgets. */
export function createPaymentBudgets(paymentTimeMs: number) {
  const spent = new LRUCache<string, number>({ max: paymentsMax })
  const spentMs = (payment: string) => spent.get(payment) ?? 0
  return {
    /**
     * Returns at least one second. The ledger may permit a last attempt with no time left. With 0 ms, this attempt
     * would always end with a timeout, whatever its page does.
     */
    leftMs: (payment: string) => Math.max(paymentTimeMs - spentMs(payment), leastMs),
    spentMs,
    isSpent: (payment: string) => spentMs(payment) >= paymentTimeMs,
    charge: (payment: string, ms: number) => void spent.set(payment, spentMs(payment) + ms),
  }
}
