import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { PaymentState } from './payment.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Signature } from '@tollbook/core/signature'

/** Every method throws a retryable `Fault` if the outcome is unknown, as in `paymentLedger.ts`. */
export interface PaymentLifecycle {
  /** Oldest first, and possibly out of date: each append checks the version of the payment. */
  findOpen(question: OpenQuestion, max: number): Promise<readonly OpenPayment[]>
  loadPayments(references: readonly PaymentReference[]): Promise<ReadonlyMap<PaymentReference, PaymentState>>
  /** Submitted and reversed payments do not count, because their tokens are not in the accounts. */
  findAccounted(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
  readScanPlace(tokenAccount: Address): Promise<ScanPlace | undefined>
  advanceScan(tokenAccount: Address, place: ScanPlace): Promise<void>
  /** Total price of answers for payments in this mint that the chain could still drop. */
  exposureBaseUnits(mint: Address): Promise<bigint>
  /** Negative if the treasury has delivered ahead. */
  undeliveredBaseUnits(mint: Address): Promise<bigint>
  prepaidBaseUnits(tab: TabId, mint: Address): Promise<bigint>
  followOpenWork(): Promise<number>
  /** False if another instance runs the work. Writes of `elected` fail after another instance has taken over. */
  runElected(name: string, work: (elected: PaymentLifecycle) => Promise<void>): Promise<boolean>
}

/** A small table lists these payments, so the query is fast for any size of the ledger. */
export type OpenQuestion =
  | { readonly kind: 'awaiting_finality'; readonly after: OpenPayment | undefined }
  | { readonly kind: 'lease_ended' }
  /** Sent by this service at most `forMsMax` milliseconds ago, and not claimed yet. */
  | { readonly kind: 'submitted'; readonly forMsMax: number }
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
