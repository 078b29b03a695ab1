import type { Address } from '@tollbook/core/address'
import type { PaymentState } from './payment.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Signature } from '@tollbook/core/signature'

/** Questions about payments after their answers. Faults as in `paymentLedger.ts`. */
export interface PaymentLifecycle {
  /** Oldest first. Open work may be listed late, never wrongly acted upon: the append checks the version. */
  findOpen(question: OpenQuestion, max: number): Promise<readonly OpenPayment[]>
  loadPayments(references: readonly PaymentReference[]): Promise<ReadonlyMap<PaymentReference, PaymentState>>
  /** The part of these that the ledger accounts for already: payments, unmatched transfers, payouts and burns. */
  findAccounted(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
  /** The last transaction of the token account that was searched for transfers; undefined before the first search. */
  readScanPlace(tokenAccount: Address): Promise<ScanPlace | undefined>
  moveScanPlace(tokenAccount: Address, place: ScanPlace): Promise<void>
  /** The price of everything that is, or was, served for payments in this mint that the chain could still drop. */
  exposureBaseUnits(mint: Address): Promise<bigint>
  /** Brings the table of open work up to date with the log. Number of events that are still to be followed. */
  followOpenWork(): Promise<number>
  /**
   * Runs the work unless another instance is running it; false when it is. The work gets this port with writes that the
   * database refuses once another instance has taken over.
   */
  runElected(name: string, work: (elected: PaymentLifecycle) => Promise<void>): Promise<boolean>
}

/** Payments with a step still to come; one small table has them, however long the ledger is. */
export type OpenQuestion =
  /** Verified, not final yet, and not in the middle of a claim. */
  | { readonly kind: 'awaiting_finality'; readonly after: OpenPayment | undefined }
  /** Claimed by an attempt that did not end in time. */
  | { readonly kind: 'lease_ended' }
  /** Sent by this service within that time, and not claimed yet. */
  | { readonly kind: 'submitted'; readonly forMsMax: number }
  /** Final, and nothing delivered since that long. */
  | { readonly kind: 'undelivered'; readonly forMs: number }

/** Also the place of a walk through them. */
export interface OpenPayment {
  readonly reference: PaymentReference
  readonly createdAtMs: number
  /** Position of its first event. */
  readonly position: number
}

/** Newest transaction up to which the transfers of a token account were searched. */
export interface ScanPlace {
  readonly signature: Signature
  readonly slot: number
}
