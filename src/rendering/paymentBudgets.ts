import { LRUCache } from 'lru-cache'
import type { Clock } from '@tollbook/core/clock'

/** Browser time that each payment has left. A payment that has bought its answer is never used again. */
export interface PaymentBudgets {
  start(payment: string): Spending
  /** Time of all attempts that have ended. */
  spentMs(payment: string): number
}

/** Browser time of one attempt. */
export interface Spending {
  readonly leftMs: number
  /** Charges the time since the start, once. */
  end(): void
  isSpent(): boolean
}

export interface PaymentBudgetsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly paymentTimeMs: number
}

// Payments with a failed attempt; forgetting one early costs at most its attempts (decision 0021).
const paymentsMax = 10_000

/** Budgets are in memory and bounded: a restart renews the budget of a payment. */
export function createPaymentBudgets({ clock, paymentTimeMs }: PaymentBudgetsDeps): PaymentBudgets {
  const spentMs = new LRUCache<string, number>({ max: paymentsMax })
  return {
    start(payment) {
      const before = spentMs.get(payment) ?? 0
      const startedAtMs = clock.monotonicMs()
      let isCharged = false
      return {
        // An attempt that the ledger still permits gets a moment, so that it ends in its own words.
        leftMs: Math.max(paymentTimeMs - before, leastMs),
        end() {
          if (isCharged) return
          isCharged = true
          spentMs.set(payment, (spentMs.get(payment) ?? 0) + clock.monotonicMs() - startedAtMs)
        },
        isSpent: () => (spentMs.get(payment) ?? 0) >= paymentTimeMs,
      }
    },
    spentMs: (payment) => spentMs.get(payment) ?? 0,
  }
}

const leastMs = 1_000
