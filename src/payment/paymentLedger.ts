import type { Address } from '@tollbook/core/address'
import type { PaymentDecision, PaymentState } from './payment.ts'
import type { MessageReference, PaymentReference, PresentedReference } from './paymentReference.ts'
import type { Fulfilment } from './receipt.ts'
import type { ListedPrice, Quote } from '@tollbook/core/quote'

/**
 * The ledger as the paywall uses it. The ledger, and nothing in memory, decides who
 * is first. Every method throws a retryable `Fault` when the outcome is unknown;
 * the caller gets that answer, and never that the payment is invalid (I8).
 */
export interface PaymentLedger {
  /** A payment and an idempotency key, as the ledger knows them. */
  lookUp(question: PaymentLookup): Promise<KnownPayment>
  /** Sponsored payments of the last day for an order whose answer is not known to have been sent, the oldest first. */
  listUnreceived(question: SponsoredOrder): Promise<readonly SponsoredPurchase[]>
  /** All the events or none, if the payment is still in the state they were decided on. Resolves once durable. */
  append(change: PaymentChange): Promise<AppendOutcome>
  /**
   * The answer of this payment has been handed to the operating system. Recorded later and in batches: an answer whose mark
   * is lost may be sent to its payer once more.
   */
  markSent(answer: SentAnswer): void
  /** The delivery of an attempt; undefined when this attempt has not delivered. */
  findDelivery(question: DeliveryQuestion): Promise<Fulfilment | undefined>
  /** Resolves once durable: a quote that was never stored could not be honoured. */
  recordQuote(quote: Quote, options?: RecordOptions): Promise<void>
  /** The cheapest quote of the wallet and endpoint that was open at that moment. */
  findOpenQuote(question: OpenQuoteQuestion): Promise<Quote | undefined>
  /** An open quote that this process has stored, from memory. There may be a cheaper one. */
  findRecentOpenQuote(question: OpenQuoteQuestion): Quote | undefined
  /** The cheapest quote with the memo that was open at that moment; if none was, another quote with it. */
  findBoundQuote(question: BoundQuoteQuestion): Promise<Quote | undefined>
  /** The price list in force at that moment. */
  findPrice(endpoint: string, atMs: number): Promise<ListedPrice | undefined>
}

/** Keys of one lookup: of a payment, and of an earlier request of its wallet. */
export interface PaymentLookup {
  readonly reference: PresentedReference
  readonly wallet: Address
  readonly idempotencyKey: string | undefined
  /** Digest of the order. Without it no answer is searched. */
  readonly orderDigest?: string
}

/** An order of a wallet. */
export interface SponsoredOrder {
  readonly wallet: Address
  readonly orderDigest: string
}

/** A sponsored payment on record. */
export interface SponsoredPurchase {
  readonly message: MessageReference
  /** Time since it was put on record, by the clock of the database. */
  readonly ageMs: number
}

export interface DeliveryQuestion {
  readonly reference: PaymentReference
  readonly attemptId: string
}

/**
 * Record of a payment and an idempotency key. The payment is read first,
 * so that one that is seen fulfilled comes with its stored answer.
 */
export interface KnownPayment {
  readonly payment: PaymentState
  /** Undefined when a message was asked for that no payment on record has. */
  readonly reference: PaymentReference | undefined
  /** Present when this wallet used the idempotency key within its time to live. */
  readonly earlier: EarlierUse | undefined
  /** The answer that this order bought with this payment, until it was sent and for a short time after it. */
  readonly stored: RepeatableAnswer | undefined
}

/** A stored answer, and whether all of it has been handed to the operating system before. */
export interface RepeatableAnswer extends StoredAnswer {
  readonly isSent: boolean
}

/** An answer that has been handed to the operating system. */
export interface SentAnswer {
  readonly reference: PaymentReference
  /** Whether the payment is bound to a secret, so that the answer may be sent to the holder of that secret again. */
  readonly isBound: boolean
}

/** Earlier request of this wallet with the same idempotency key. */
export interface EarlierUse {
  readonly reference: PaymentReference
  readonly orderDigest: string
  /** Absent while the attempt runs, and when it failed. */
  readonly answer: StoredAnswer | undefined
}

/** `data` and `meta` as they were sent, and where the ledger says that they were delivered. */
export interface StoredAnswer {
  readonly answerJson: string
  readonly position: number
  readonly leafHash: string
  readonly recordedAtMs: number
}

/** Quotes that a payment of this wallet may have paid, by the time and slot at which it landed. */
export interface OpenQuoteQuestion {
  readonly wallet: Address
  readonly endpoint: string
  readonly landedAtMs: number
  /** A payment cannot have landed before the slot that its quote names; no clock is compared for this side. */
  readonly landedSlot: number
  /** Grace period of a quote after its expiry. */
  readonly graceMs: number
}

/** Quotes that a payment with this memo may have paid. */
export interface BoundQuoteQuestion extends OpenQuoteQuestion {
  readonly memo: string
}

export interface RecordOptions {
  /** The payer chose the memo, so quotes of this and other instances may share it. Such a quote is not stored in memory. */
  readonly sharesMemo?: true
}

/** A decision with the state that it was made on. The append fails as a conflict when the state has changed since. */
export interface PaymentChange extends PaymentDecision {
  readonly reference: PaymentReference
  /** The state that the step was decided on. */
  readonly before: PaymentState
  /** When the events happened; a verified payment and its burn happened at their block's time instead. */
  readonly nowMs: number
  readonly idempotency?: {
    readonly wallet: Address
    readonly key: string
    readonly orderDigest: string
  }
  /** Present with the submission of a sponsored payment, which is found by both from then on. */
  readonly sponsored?: { readonly message: MessageReference } & SponsoredOrder
  /** Stored with a fulfilment until it has been sent, or for a day under an idempotency key. */
  readonly answerJson?: string
}

/** Expected outcomes. An unknown outcome, such as a lost connection, is thrown. */
export type AppendOutcome =
  | {
      readonly outcome: 'appended'
      readonly after: PaymentState
      readonly recordedAtMs: number
      readonly leaves: readonly Leaf[]
    }
  /** Another writer was first: look it up again and repeat the decision. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'idempotency_key_reused' }

/** One event's place in the ledger. */
export interface Leaf {
  readonly position: number
  readonly leafHash: string
}
