import type { Address } from '@tollbook/core/address'
import type { TabId } from '@tollbook/core/tab'
import type { PaymentState } from './payment.ts'
import type { PaymentReference } from './paymentReference.ts'
import type { Signature } from '@tollbook/core/signature'

/** Every method throws a retryable `Fault` if the outcome is unknown, as in `paymentLedger.ts`. */
export interface PaymentLifecycle {
  /**
   * Lists the oldest payments first. The list may be out of date, which is safe: each append checks the version of the
   * payment.
   */
  findOpen(question: OpenQuestion, max: number): Promise<readonly OpenPayment[]>
  /** Loads payments. `get` throws for a payment whose events cannot be decoded, so that it does not hide the others. */
  loadPayments(
    references: readonly PaymentReference[],
  ): Promise<Pick<ReadonlyMap<PaymentReference, PaymentState>, 'get'>>
  /**
   * Returns the references that are in the accounts as a payment, unmatched transfer, payout or burn. Submitted and
   * reversed payments are left out, because their tokens are not in the accounts.
   */
  findAccounted(references: readonly PaymentReference[]): Promise<ReadonlySet<PaymentReference>>
  /** Returns the newest transaction up to which the transfer scan has finished all. Undefined until it has finished one. */
  readScanPlace(tokenAccount: Address): Promise<ScanPlace | undefined>
  advanceScan(tokenAccount: Address, place: ScanPlace): Promise<void>
  /** Returns the total price of answers, sent or in progress, for payments in this mint that the chain could still drop. */
  exposureBaseUnits(mint: Address): Promise<bigint>
  /** Returns the amount that the treasury still has to deliver. Negative if it has delivered ahead. */
  undeliveredBaseUnits(mint: Address): Promise<bigint>
  prepaidBaseUnits(tab: TabId, mint: Address): Promise<bigint>
  /** Returns the number of events that are not in the table of open work yet. */
  followOpenWork(): Promise<number>
  /**
   * Runs the work unless another instance runs it. False in that case. `elected.advanceScan` fails after another
   * instance has taken over.
   */
  runElected(name: string, work: (elected: PaymentLifecycle) => Promise<void>): Promise<boolean>
}

/** A small table lists these payments, so the query is fast for any size of the ledger. */
export type OpenQuestion = OpenKind & {
  /** The last payment of the previous page. Absent: the page is the first one. */
  readonly after?: OpenPayment | undefined
}

export type OpenKind =
  /** Verified and not final yet. Includes payments with a live attempt, which `decideFinality` leaves unchanged. */
  | { readonly kind: 'awaiting_finality' }
  /** Claimed by an attempt whose lease ended without a result. */
  | { readonly kind: 'lease_ended' }
  /** Sent by this service at most `forMsMax` milliseconds ago, and not claimed yet. */
  | { readonly kind: 'submitted'; readonly forMsMax: number }
  /** Final, and without a delivery for at least `forMs` milliseconds. */
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
