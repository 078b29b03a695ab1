import type { Address } from '@tollbook/core/address'
import type { PaymentDecision, PaymentState } from './payment.ts'
import type { MessageReference, PaymentReference, PresentedReference } from './paymentReference.ts'
import type { Fulfilment } from './receipt.ts'
import type { ListedPrice, Quote } from '@tollbook/core/quote'
import type { DepositLimits } from '@tollbook/core/tab'
import type { Refusal } from '@tollbook/core/refusal'

/**
 * The ledger's interface for the paywall. Only the ledger decides which of two claims is first, never the memory of a
 * process. Every method throws a retryable `Fault` if the outcome is unknown. The caller then receives a retryable
 * error, and never a statement that the payment is invalid (I8).
 */
export interface PaymentLedger {
  lookUp(question: PaymentLookup): Promise<KnownPayment>
  /**
   * Lists sponsored payments of this wallet for this order, of the last day and oldest first. It omits payments whose
   * answer is known to have been sent.
   */
  listUnreceived(question: SponsoredOrder): Promise<readonly SponsoredPurchase[]>
  /**
   * Appends all the events or none. The append succeeds only if the payment is still in the state on which the events
   * were decided. Resolves once the events are durable.
   */
  append(change: PaymentChange): Promise<AppendOutcome>
  /**
   * Marks the answer of this payment as sent: the operating system has accepted all its bytes. Marks are written later
   * and in batches. If a mark is lost, the payer can get the answer once more.
   */
  markSent(answer: SentAnswer): void
  /** Finds the delivery of this attempt. Undefined if the attempt has not delivered. */
  findDelivery(question: DeliveryQuestion): Promise<Fulfilment | undefined>
  /**
   * Records a quote. Resolves once the quote is durable, because the service could not honor a quote that is not
   * stored.
   */
  recordQuote(quote: Quote, options?: RecordOptions): Promise<void>
  /** Finds the cheapest quote of the wallet and endpoint that was open when the payment landed. */
  findOpenQuote(question: OpenQuoteQuestion): Promise<Quote | undefined>
  /** Finds an open quote in the memory of this process. The ledger may have a cheaper quote. */
  findRecentOpenQuote(question: OpenQuoteQuestion): Quote | undefined
  /**
   * Finds the cheapest quote with the memo that was open when the payment landed. If none was open, it returns another
   * quote with the memo.
   */
  findBoundQuote(question: BoundQuoteQuestion): Promise<Quote | undefined>
  /**
   * Finds the price in the list that was in force at `atMs`: in the service token, or in the dollar token with this
   * mint.
   */
  findPrice(endpoint: string, atMs: number, dollar?: Address): Promise<ListedPrice | undefined>
}

export interface PaymentLookup {
  readonly reference: PresentedReference
  readonly wallet: Address
  readonly idempotencyKey: string | undefined
  /** Digest of the order. Undefined: `lookUp` does not search for an answer. */
  readonly orderDigest?: string
}

export interface SponsoredOrder {
  readonly wallet: Address
  readonly orderDigest: string
}

export interface SponsoredPurchase {
  readonly message: MessageReference
  /** Time since the payment was recorded, in milliseconds by the clock of the database. */
  readonly ageMs: number
}

export interface DeliveryQuestion {
  readonly reference: PaymentReference
  readonly attemptId: string
}

/**
 * The records of a payment and of an idempotency key. The payment is read first, so that a fulfilled payment always
 * includes its stored answer.
 */
export interface KnownPayment {
  readonly payment: PaymentState
  /** Reference of the payment. Undefined if the lookup used a message that belongs to no recorded payment. */
  readonly reference: PaymentReference | undefined
  /** Present if this wallet used the idempotency key within its time to live. */
  readonly earlier: EarlierUse | undefined
  /**
   * The answer that this order bought with this payment. It is available until it was sent, and for a short time
   * afterwards.
   */
  readonly stored: RepeatableAnswer | undefined
}

/** A stored answer that may be sent again. `isSent`: the operating system has already accepted all its bytes. */
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
  /** The stored answer. Absent while the attempt runs, and if the attempt failed. */
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
  /** Slot at which the payment landed. A payment cannot land before the slot in its quote, so this check needs no clock. */
  readonly landedSlot: number
  readonly graceMs: number
}

export interface BoundQuoteQuestion extends OpenQuoteQuestion {
  readonly memo: string
}

export interface RecordOptions {
  /**
   * True if the payer chose the memo, so that quotes of this and other instances may have the same memo. Such a quote
   * is not cached in memory.
   */
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
  /** Present with the submission of a sponsored payment. Later lookups find the payment by its message and by its order. */
  readonly sponsored?: { readonly message: MessageReference } & SponsoredOrder
  /** Stored with a fulfilment until the answer was sent, or for a day if the request has an idempotency key. */
  readonly answerJson?: string
  readonly limits?: DepositLimits
}

/** Outcomes of an append. If the outcome is unknown, for example after a lost connection, the append throws instead. */
export type AppendOutcome =
  | {
      readonly outcome: 'appended'
      readonly after: PaymentState
      readonly recordedAtMs: number
      readonly leaves: readonly Leaf[]
      /** Balance of the tab in base units. Present after a charge, and at the start of a streamed answer. */
      readonly tabBalanceBaseUnits?: bigint
    }
  /** Another writer changed the payment first. Look the payment up again and repeat the decision. */
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'idempotency_key_reused' }
  /** The tab is closed, has other keys, or holds less than the debit. For a deposit: the tab would exceed its limit. */
  | { readonly outcome: 'refused'; readonly refusal: Refusal }

export interface Leaf {
  readonly position: number
  readonly leafHash: string
}
