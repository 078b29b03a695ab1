import type { Address } from './address.ts'
import type { Settlement } from './settlement.ts'
import type { Price } from './quote.ts'

/*
 * The facts of the book, in the past tense. They never change: a new meaning is a new schema version with an upcast in
 * `eventCodec.ts` and a test with an old payload. All but `PriceListPublished` belong to the stream of one payment.
 */

/** We put on record that we were about to send this transaction, before we sent it. */
export interface PaymentSubmitted {
  readonly kind: 'PaymentSubmitted'
  readonly wallet: Address
  readonly endpoint: string
  readonly quoteId: string | undefined
  readonly transactionBase64: string
}

/** The chain proved the payment. Money before fulfilment is owed to the caller. */
export interface PaymentVerified {
  readonly kind: 'PaymentVerified'
  readonly settlement: Settlement
}

/** What was burned was burned when it was verified, whether an answer follows or not. */
export interface TokensBurned {
  readonly kind: 'TokensBurned'
  readonly mint: Address
  readonly endpoint: string
  readonly burnedBaseUnits: bigint
}

/** An attempt has the exclusive right to run the handler until its lease ends. */
export interface ProofClaimed {
  readonly kind: 'ProofClaimed'
  readonly attempt: number
  /** Names the one process and request that made the claim; it tells a lost answer from a lost race. */
  readonly attemptId: string
  readonly wallet: Address
  readonly endpoint: string
  /** SHA-256 in hex of what was ordered: method, endpoint and canonical parameters. */
  readonly orderDigest: string
  readonly leaseMs: number
}

export interface RequestFulfilled {
  readonly kind: 'RequestFulfilled'
  readonly attempt: number
  readonly attemptId: string
  readonly orderDigest: string
  /** SHA-256 in hex of the answer's `data` and `meta` as they were sent. */
  readonly answerDigest: string
}

/** What was received is no longer owed to the caller but to these three. */
export interface DistributionAllocated {
  readonly kind: 'DistributionAllocated'
  readonly mint: Address
  readonly providerBaseUnits: bigint
  readonly holdersBaseUnits: bigint
  readonly treasuryBaseUnits: bigint
}

/** The attempt ended undelivered and the proof is free again. */
export interface RequestFailed {
  readonly kind: 'RequestFailed'
  readonly attempt: number
  readonly attemptId: string
  readonly reason: FailureReason
}

export type FailureReason =
  | 'no_data'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'target_forbidden'
  | 'internal_error'
  | 'lease_expired'

export interface PriceListPublished {
  readonly kind: 'PriceListPublished'
  readonly source: string
  readonly prices: readonly Price[]
  /** Why the token had this price, when it was the markets that said so; absent for a price that the operator fixed. */
  readonly evidence?: MarketEvidence
}

/** What was heard of the markets when they agreed on a price, outliers and silence included. */
export interface MarketEvidence {
  readonly agreedAtMs: number
  readonly tokenPriceAttoUsd: bigint
  readonly readings: readonly {
    readonly source: string
    readonly tokenPriceAttoUsd: bigint
    readonly liquidityUsd: bigint | undefined
  }[]
  readonly silent: readonly { readonly source: string; readonly why: string }[]
}

export type PaymentEvent =
  | PaymentSubmitted
  | PaymentVerified
  | TokensBurned
  | ProofClaimed
  | RequestFulfilled
  | DistributionAllocated
  | RequestFailed

export type LedgerEvent = PaymentEvent | PriceListPublished
