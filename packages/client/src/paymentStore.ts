import type { Spending } from './budget.ts'
import type { PendingPayment } from './pendingPayment.ts'

/**
 * Memory of payments that outlives the process. `openPaymentFolder` of `@tollbook/client/node` keeps them in files; a browser
 * can keep them in IndexedDB.
 */
export interface PaymentStore {
  /** Awaited before a signed payment leaves; a throw stops it. */
  keep(payment: PendingPayment): Promise<void>
  close(payment: PendingPayment, outcome: PaymentOutcome): Promise<void>
  /** Payments that were kept and not closed. */
  pending(): Promise<readonly PendingPayment[]>
  /**
   * Everything kept and not closed as `not_sent`, in the order in which it was kept, by any process. Read before each signature, and
   * again before the signed payment leaves.
   */
  spending(): Promise<readonly StoredSpending[]>
  /** Payments that were closed as `refused`. Without it, another process cannot give their amounts back to the limits. */
  refused?(): Promise<readonly PendingPayment[]>
  /**
   * Waits until no other payer with this store works on the order, and holds it until `end`. Without it, two payers may present
   * each other's payments. A browser can use `navigator.locks`.
   */
  takeTurn?(order: string, signal: AbortSignal): Promise<PaymentTurn>
}

export interface PaymentTurn {
  /** Payments for the order that others made, and that were answered while this payer waited. */
  readonly answered: readonly PendingPayment[]
  end(): Promise<void>
}

/**
 * A refused payment may still move tokens, so it counts as spent. One that never left this process does not, and neither does one
 * that can no longer land: a payment closed as `refused` is closed again as `not_sent`.
 */
export type PaymentOutcome = 'answered' | 'refused' | 'not_sent'

export interface StoredSpending extends Spending {
  readonly signature: string
  readonly mint: string
}
