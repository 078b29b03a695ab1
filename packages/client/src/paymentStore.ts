import type { Spending } from './budget.ts'
import type { PendingPayment } from './pendingPayment.ts'

/**
 * Storage of payments beyond the process. `openPaymentFolder` of `@tollbook/client/node` uses files; a browser can use
 * IndexedDB.
 */
export interface PaymentStore {
  /** Awaited before a signed payment leaves. A throw stops it. */
  keep(payment: PendingPayment): Promise<void>
  close(payment: PendingPayment, outcome: PaymentOutcome): Promise<void>
  /** Payments that were stored and not closed. */
  pending(): Promise<readonly PendingPayment[]>
  /**
   * All stored payments but those closed as `not_sent`, in the order in which any process stored them. Read before each
   * signature, and again before the payment leaves.
   */
  spending(): Promise<readonly StoredSpending[]>
  /** Payments closed as `refused`. Without this method, another process cannot give their amounts back to the limits. */
  refused?(): Promise<readonly PendingPayment[]>
  /**
   * Waits until no other payer of this store works on the order, and reserves it until `end`. Without this method, two
   * payers may present each other's payments. A browser can use `navigator.locks`.
   */
  takeTurn?(order: string, signal: AbortSignal): Promise<PaymentTurn>
  /** Text that was kept under the name of a tab. Without this method and `keepTab`, tabs are in memory. */
  readTab?(name: string): Promise<string | undefined>
  /** Keeps the text, which has the key of the tab, or deletes it if it is undefined. */
  keepTab?(name: string, text: string | undefined): Promise<void>
}

export interface PaymentTurn {
  /** Payments for the order that other payers made and that were answered during the wait. */
  readonly answered: readonly PendingPayment[]
  end(): Promise<void>
}

/**
 * A refused payment may still move tokens, so it counts as spent. `not_sent` counts nothing: the payment never left
 * this process, or can no longer land. In the second case it was closed as `refused` before.
 */
export type PaymentOutcome = 'answered' | 'refused' | 'not_sent'

export interface StoredSpending extends Spending {
  readonly signature: string
  readonly mint: string
}
