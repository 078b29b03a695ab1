import type { Address } from '@tollbook/core/address'
import type { PaymentDecision, PaymentState } from './payment.ts'
import type { MessageReference, PaymentReference, PresentedReference } from './paymentReference.ts'
import type { Fulfilment } from './receipt.ts'
import type { ListedPrice, Quote } from '@tollbook/core/quote'
import type { DepositLimits } from '@tollbook/core/tab'
import type { Refusal } from '@tollbook/core/refusal'

/**
 * The ledger's interface for the paywall. Only the ledger decides who is first, never the memory of a process. Every
 * method throws a retryable `Fault` if the outcome is unknown. The caller then gets that answer, and never that the
 * payment is invalid (I8).
 */
export interface PaymentLedger {
  lookUp(question: PaymentLookup): Promise<KnownPayment>
  /** Lists sponsored payments of the last day for an order whose answer is not known to have been sent, oldest first. */
  listUnreceived(question: SponsoredOrder): Promise<readonly SponsoredPurchase[]>
  /**
   * Appends all the events or none, if the payment is still in the state on which they were decided. Resolves once
   * durable.
   */
  append(change: PaymentChange): Promise<AppendOutcome>
  /**
   * Records that the operating system has taken the answer of this payment. The record is written later and in batches.
   * An answer whose mark is lost may be sent to its payer once more.
   */
  markSent(answer: SentAnswer): void
  /** Undefined if this attempt has not delivered. */
  findDelivery(question: DeliveryQuestion): Promise<Fulfilment | undefined>
  /** Records a quote. Resolves once durable, because a quote that is not stored could not be honored. */
  recordQuote(quote: Quote, options?: RecordOptions): Promise<void>
  /** The cheapest quote of the wallet and endpoint that was open at that moment. */
  findOpenQuote(question: OpenQuoteQuestion): Promise<Quote | undefined>
  /** Finds an open quote that this process has stored, from memory. The ledger may have a cheaper one. */
  findRecentOpenQuote(question: OpenQuoteQuestion): Quote | undefined
  /** Finds the cheapest quote with the memo that was open at that moment. If none was open, another quote with the memo. */
  findBoundQuote(question: BoundQuoteQuestion): Promise<Quote | undefined>
  /** Finds the price in the list in force at that moment, in the service token or in the dollar with this mint. */
  findPrice(endpoint: string, atMs: number, dollar?: Address): Promise<ListedPrice | undefined>
}

export interface PaymentLookup {
  readonly reference: PresentedReference
  readonly wallet: Address
  readonly idempotencyKey: string | undefined
  /** Digest of the order. Without it, no answer is searched. */
  readonly orderDigest?: string
}

export interface SponsoredOrder {
  readonly wallet: Address
  readonly orderDigest: string
}

export interface SponsoredPurchase {
  readonly message: MessageReference
  /** Time since it was recorded, by the clock of the database. */
  readonly ageMs: number
}

export interface DeliveryQuestion {
  readonly reference: PaymentReference
  readonly attemptId: string
}

/**
 * Record of a payment and an idempotency key. The payment is read first, so that a fulfilled payment always comes with
 * its stored answer.
 */
export interface KnownPayment {
  readonly payment: PaymentState
  /** Undefined if the lookup used a message that belongs to no recorded payment. */
  readonly reference: PaymentReference | undefined
  /** Present if this wallet used the idempotency key within its time to live. */
  readonly earlier: EarlierUse | undefined
  /** The answer that this order bought with this payment. Available until it was sent and for a short time afterwards. */
  readonly stored: RepeatableAnswer | undefined
}

/** `isSent`: the operating system has taken all of it before. */
export interface RepeatableAnswer extends StoredAnswer {
  readonly isSent: boolean
}

export interface SentAnswer {
  readonly reference: PaymentReference
  /** True if the payment is bound to a secret. The answer may then be sent again to the holder of that secret. */
  readonly isBound: boolean
}

export interface EarlierUse {
  readonly reference: PaymentReference
  readonly orderDigest: string
  /** Absent while the attempt runs, and if it failed. */
  readonly answer: StoredAnswer | undefined
}

/** `data` and `meta` as sent, with the position of their delivery in the ledger. */
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
  /** Slot at which the payment landed. It cannot be before the slot in its quote, so this check needs no clock. */
  readonly landedSlot: number
  readonly graceMs: number
}

export interface BoundQuoteQuestion extends OpenQuoteQuestion {
  readonly memo: string
}

export interface RecordOptions {
  /** The payer chose the memo, so quotes of this and other instances may share it. Such a quote is not kept in memory. */
  readonly sharesMemo?: true
}

/** A decision with the state on which it was made. The append fails as a conflict if the state has changed since. */
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
  /** Present with the submission of a sponsored payment. Its message and its order then both find the payment. */
  readonly sponsored?: { readonly message: MessageReference } & SponsoredOrder
  /** Stored with a fulfilment until it was sent, or for a day under an idempotency key. */
  readonly answerJson?: string
  readonly limits?: DepositLimits
}

/** Expected outcomes. An unknown outcome, such as a lost connection, is thrown. */
export type AppendOutcome =
  | {
      readonly outcome: 'appended'
      readonly after: PaymentState
      readonly recordedAtMs: number
      readonly leaves: readonly Leaf[]
      /** Balance of the tab. Present after a charge, and at the start of a streamed answer. */
      readonly tabBalanceBaseUnits?: bigint
    }
  /** Another writer was first. Look the payment up again and repeat the decision. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'idempotency_key_reused' }
  /** The tab cannot pay: it is closed, has other keys, or holds too little. Or it would hold too much after a deposit. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

export interface Leaf {
  readonly position: number
  readonly leafHash: string
}
