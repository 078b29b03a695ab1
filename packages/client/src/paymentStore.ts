import type { Spending } from './budget.ts'
import type { PendingPayment } from './pendingPayment.ts'

/**
 * Storage of payments that outlives the process. `openPaymentFolder` of `@tollbook/client/node` uses files. A browser
 * can use IndexedDB.
 */
export interface PaymentStore {
  /** Stores a signed payment. Awaited before the payment is sent. A throw stops the payment. */
  keep(payment: PendingPayment): Promise<void>
  close(payment: PendingPayment, outcome: PaymentOutcome): Promise<void>
  /** Returns the payments that were stored and not closed. */
  pending(): Promise<readonly PendingPayment[]>
  /**
   * Returns the spending of all payments, except those closed as `not_sent`, in the order in which they were stored by
   * any process. Read before each signature, and again before the payment is sent.
   */
  spending(): Promise<readonly StoredSpending[]>
  /**
   * Returns the payments closed as `refused`. Without this method, another process cannot release their amounts from
   * the limits.
   */
  refused?(): Promise<readonly PendingPayment[]>
  /**
   * Waits until no other payer of this store works on the order, and reserves it until `end`. Without this method, two
   * payers may present the same payment. A browser can use `navigator.locks`.
   */
  takeTurn?(order: string, signal: AbortSignal): Promise<PaymentTurn>
  /** Returns the text that was stored under this name. Without this method and `keepTab`, tabs are kept in memory only. */
  readTab?(name: string): Promise<string | undefined>
  /** Stores the text of a tab, which contains its key. Deletes it if `text` is undefined. */
  keepTab?(name: string, text: string | undefined): Promise<void>
}

export interface PaymentTurn {
  /** Payments of other payers for the order that were answered during the wait. */
  readonly answered: readonly PendingPayment[]
  end(): Promise<void>
}

/**
 * Outcome of a payment. `refused` counts as spent, because the payment may still move tokens. `not_sent` does not
 * count. It can follow `refused`, after the transaction can no longer land.
 */
export type PaymentOutcome = 'answered' | 'refused' | 'not_sent'

export interface StoredSpending extends Spending {
  readonly signature: string
  readonly mint: string
}
