import type { Address } from '@tollbook/core/address'
import type { PaymentState } from './payment.ts'
import type { Signature } from '@tollbook/core/signature'

/** What those who follow payments after their answers ask of the ledger. Faults as in `paymentLedger.ts`. */
export interface PaymentLife {
  /** Oldest first. */
  findOpen(question: OpenQuestion, max: number): Promise<readonly OpenPayment[]>
  loadPayments(signatures: readonly Signature[]): Promise<ReadonlyMap<Signature, PaymentState>>
  /** Of these, those that the book accounts for already: payments, transfers booked before, and payouts. */
  findAccounted(signatures: readonly Signature[]): Promise<ReadonlySet<Signature>>
  /** How far the token account was searched for transfers; undefined before the first search. */
  readScanPlace(tokenAccount: Address): Promise<ScanPlace | undefined>
  moveScanPlace(tokenAccount: Address, place: ScanPlace): Promise<void>
  /** The price of all that is, or was, served for payments that the chain could still drop. */
  exposureBaseUnits(): Promise<bigint>
  /** Runs the work unless another instance is at it. */
  runElected(name: string, work: () => Promise<void>): Promise<void>
}

/** Payments of which something is still to come; one small index has them, however long the book is. */
export type OpenQuestion =
  /** Verified, not final yet, and not in the middle of a claim. */
  | { readonly kind: 'awaiting_finality'; readonly after: OpenPayment | undefined }
  /** Claimed by somebody who did not come back in time. */
  | { readonly kind: 'lease_ended' }
  /** Final, and nothing delivered for so long. */
  | { readonly kind: 'undelivered'; readonly forMs: number }

/** Also where a walk through them stands. */
export interface OpenPayment {
  readonly signature: Signature
  readonly createdAtMs: number
}

export interface ScanPlace {
  readonly signature: Signature
  readonly slot: number
}
