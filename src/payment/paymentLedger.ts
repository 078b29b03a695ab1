import type { Address } from '@tollbook/core/address'
import type { PaymentDecision, PaymentState } from './payment.ts'
import type { MessageReference, PaymentReference, PresentedReference } from './paymentReference.ts'
import type { Fulfilment } from './receipt.ts'
import type { ListedPrice, Quote } from '@tollbook/core/quote'
import type { DepositLimits } from '@tollbook/core/tab'
import type { Refusal } from '@tollbook/core/refusal'

/**
 * Only the ledger decides which of two claims is first, never the memory of a process. A method throws a retryable
 * `Fault` if the outcome is unknown, because the caller could pay again after a refusal (I8).
 */
export interface PaymentLedger {
  lookUp(question: PaymentLookup): Promise<KnownPayment>
  /**
   * Lists sponsored payments for this order in the last day, oldest first. Omits payments whose answer is known to have
   * been sent, because the wallet may want a new answer.
   */
  listUnreceived(question: SponsoredOrder): Promise<readonly SponsoredPurchase[]>
  /**
   * Appends the events of a change. Resolves once they are durable, all or none. The outcome is a conflict if the
   * payment has left the state `before`.
   */
  append(change: PaymentChange): Promise<AppendOutcome>
  /** Marks an answer as sent. Marks are batched. If one is lost, the payer can get the answer once more. */
  markSent(answer: SentAnswer): void
  /** Finds the delivery of an attempt. Undefined if the attempt has not delivered. */
  findDelivery(question: DeliveryQuestion): Promise<Fulfilment | undefined>
  /** Records a quote. Resolves once it is durable, because the service could not honor a quote that is not stored. */
  recordQuote(quote: Quote, options?: RecordOptions): Promise<void>
  /** Returns the cheapest quote of the wallet and endpoint that was open when the payment landed. */
  findOpenQuote(question: OpenQuoteQuestion): Promise<Quote | undefined>
  /** Searches the memory of this process only, so the ledger may have a cheaper quote. */
  findRecentOpenQuote(question: OpenQuoteQuestion): Quote | undefined
  /**
   * Searches the quotes of the wallet and endpoint with this memo. Returns the cheapest quote that was open when the
   * payment landed. If none was open, returns another quote.
   */
  findBoundQuote(question: BoundQuoteQuestion): Promise<Quote | undefined>
  /** Searches the list that was in force at `atMs`. `dollar`: mint of the price. Absent: the service token. */
  findPrice(endpoint: string, atMs: number, dollar?: Address): Promise<ListedPrice | undefined>
}

export interface PaymentLookup {
  readonly reference: PresentedReference
  readonly wallet: Address
  readonly idempotencyKey: string | undefined
  /** Absent: no stored answer is searched. */
  readonly orderDigest?: string
}

export interface SponsoredOrder {
  readonly wallet: Address
  readonly orderDigest: string
}

export interface SponsoredPurchase {
  readonly message: MessageReference
  /** Time since the payment was recorded, by the clock of the database. */
  readonly ageMs: number
}

export interface DeliveryQuestion {
  readonly reference: PaymentReference
  readonly attemptId: string
}

/** The stored answer is read after the payment, because the payment may be fulfilled in between. */
export interface KnownPayment {
  readonly payment: PaymentState
  /** Undefined if the message belongs to no recorded payment. */
  readonly reference: PaymentReference | undefined
  /** Undefined unless this wallet used the idempotency key within a day. */
  readonly earlier: EarlierUse | undefined
  /** The answer that this order bought. It is available until it was sent, and for a short time afterwards. */
  readonly stored: RepeatableAnswer | undefined
}

export interface RepeatableAnswer extends StoredAnswer {
  /** True if the operating system has accepted all bytes of the answer. */
  readonly isSent: boolean
}

export interface SentAnswer {
  readonly reference: PaymentReference
  /** True if the payment is bound to a secret or a tab, so that the answer may be sent again to a caller who proves it. */
  readonly isBound: boolean
}

export interface EarlierUse {
  readonly reference: PaymentReference
  readonly orderDigest: string
  /** Undefined while the attempt runs, and after a failure. */
  readonly answer: StoredAnswer | undefined
}

export interface StoredAnswer {
  readonly answerJson: string
  readonly attemptId: string
  readonly position: number
  readonly leafHash: string
  readonly recordedAtMs: number
}

export interface OpenQuoteQuestion {
  readonly wallet: Address
  readonly endpoint: string
  readonly landedAtMs: number
  /** A payment cannot land before the slot of its quote. This proves the order without a clock. */
  readonly landedSlot: number
  readonly graceMs: number
}

export interface BoundQuoteQuestion extends OpenQuoteQuestion {
  readonly memo: string
}

export interface RecordOptions {
  /** Present if the payer chose the memo. Other quotes may have it too, so this quote is not cached in memory. */
  readonly sharesMemo?: true
}

/** The append fails as a conflict if the state has changed since the decision on `before`. */
export interface PaymentChange extends PaymentDecision {
  readonly reference: PaymentReference
  readonly before: PaymentState
  /** Time of the events. A verified payment and its burn have the time of their block instead. */
  readonly nowMs: number
  readonly idempotency?: {
    readonly wallet: Address
    readonly key: string
    readonly orderDigest: string
  }
  readonly sponsored?: { readonly message: MessageReference } & SponsoredOrder
  /** Stored with a fulfilment, so that the answer can be repeated. */
  readonly answerJson?: string
  readonly limits?: DepositLimits
}

/** If the outcome is unknown, for example after a lost connection, the append throws instead. */
export type AppendOutcome =
  | {
      readonly outcome: 'appended'
      readonly after: PaymentState
      readonly recordedAtMs: number
      readonly leaves: readonly Leaf[]
      /** Present after a charge, and at the start of a streamed answer, if the balance could be read. */
      readonly tabBalanceBaseUnits?: bigint
    }
  /** Another writer changed the payment first. Look the payment up again and repeat the decision. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'idempotency_key_reused' }
  /**
   * The tab is closed, has other keys, holds less than the debit, or reaches its daily limit. For a deposit: the tab or
   * all tabs together would exceed a limit.
   */
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

export interface Leaf {
  readonly position: number
  readonly leafHash: string
}
