import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { PaymentState } from './payment.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Signature } from '@tollbook/core/signature'

/** Queries about payments after their answers. They throw like those of `paymentLedger.ts`. */
export interface PaymentLifecycle {
  /**
   * Finds open payments, oldest first. The list may be late, but no wrong step follows, because the append checks the
   * version.
   */
  findOpen(question: OpenQuestion, max: number): Promise<readonly OpenPayment[]>
  loadPayments(references: readonly PaymentReference[]): Promise<ReadonlyMap<PaymentReference, PaymentState>>
  /** Returns those of the references that are already in the ledger: payments, unmatched transfers, payouts and burns. */
  findAccounted(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
  /** The newest transaction of the token account whose transfers were searched. Undefined before the first search. */
  readScanPlace(tokenAccount: Address): Promise<ScanPlace | undefined>
  advanceScan(tokenAccount: Address, place: ScanPlace): Promise<void>
  /** Returns the total price of answers for payments in this mint that the chain could still drop. */
  exposureBaseUnits(mint: Address): Promise<bigint>
  /** Returns the tokens that the treasury still has to deliver. Negative if it has delivered ahead. */
  undeliveredBaseUnits(mint: Address): Promise<bigint>
  prepaidBaseUnits(tab: TabId, mint: Address): Promise<bigint>
  /** Updates the table of open work from the log. Returns the number of events that remain. */
  followOpenWork(): Promise<number>
  /**
   * Runs the work unless another instance runs it, in which case it returns false. The work gets this port with guarded
   * writes, which the database refuses after another instance has taken over.
   */
  runElected(name: string, work: (elected: PaymentLifecycle) => Promise<void>): Promise<boolean>
}

/** Payments with a further step. One small table contains them, whatever the size of the ledger. */
export type OpenQuestion =
  /** Verified, not final yet, and not in the middle of a claim. */
  | { readonly kind: 'awaiting_finality'; readonly after: OpenPayment | undefined }
  /** Claimed by an attempt that did not end in time. */
  | { readonly kind: 'lease_ended' }
  /** Sent by this service within that time, and not claimed yet. */
  | { readonly kind: 'submitted'; readonly forMsMax: number }
  /** Final, with no delivery for at least that time. */
  | { readonly kind: 'undelivered'; readonly forMs: number }

export interface OpenPayment {
  readonly reference: PaymentReference
  readonly createdAtMs: number
  readonly position: number
}

export interface ScanPlace {
  readonly signature: Signature
  readonly slot: number
}
