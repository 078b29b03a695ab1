import type { Address } from '@tollbook/core/address'
import type { Settlement } from './settlement.ts'
import type { Price } from '@tollbook/core/quote'
import type { Signature } from '@tollbook/core/signature'

/*
 * The facts of the book, in the past tense. They never change: a new meaning is a new schema version with an upcast in
 * `eventCodec.ts` and a test with an old payload. All but `PriceListPublished` and `DistributionPaid` belong to the stream
 * of one signature.
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

/** The block of the payment can no longer be dropped. */
export interface PaymentFinalized {
  readonly kind: 'PaymentFinalized'
  /** Where it stands on the finalized chain; another slot than before, if a fork was dropped and it landed again. */
  readonly slot: number
}

/** What we believed of the chain was dropped with its fork. Says what of the book it takes back, account by account. */
export interface PaymentReversed {
  readonly kind: 'PaymentReversed'
  /** `absent`: it is not on the finalized chain and never will be. `failed`: it is there, and moved nothing. */
  readonly reason: ReversalReason
  /** How far the finalized chain was when it was looked for. */
  readonly finalizedSlot: number
  readonly wallet: Address
  readonly mint: Address
  readonly endpoint: string
  /** Was still owed to the caller: nothing was delivered. */
  readonly unearnedBaseUnits: bigint
  /** Had been earned: the answer was given away, and the loss is ours. */
  readonly lostBaseUnits: bigint
  readonly overpaidBaseUnits: bigint
  readonly burnedBaseUnits: bigint
}

export type ReversalReason = 'absent' | 'failed'

/** For a day nothing could be delivered: the payment no longer buys, and what arrived is owed back to the wallet. */
export interface RefundDue {
  readonly kind: 'RefundDue'
  readonly wallet: Address
  readonly mint: Address
  readonly refundBaseUnits: bigint
}

/** Tokens arrived that no payment explains, and it is too late to present them as a proof. */
export interface TransferReceived {
  readonly kind: 'TransferReceived'
  /** Who sent most of it. Undefined when nobody did, because it was minted to us. */
  readonly wallet: Address | undefined
  readonly mint: Address
  readonly receivedBaseUnits: bigint
  readonly slot: number
}

/** Tokens left the payment wallet for those whom they are owed to. Recorded by the payer of payouts, never by the service. */
export interface DistributionPaid {
  readonly kind: 'DistributionPaid'
  readonly signature: Signature
  readonly planId: string
  /** A plan is paid by several transactions: which of them this is, from 1. */
  readonly part: number
  readonly mint: Address
  readonly slot: number
  readonly payments: readonly PaidShare[]
}

export interface PaidShare {
  /** The ledger account that it was owed by. */
  readonly account: string
  readonly wallet: Address
  /** What left our wallet; of a mint with a transfer fee less arrives. */
  readonly paidBaseUnits: bigint
}

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
  | PaymentFinalized
  | PaymentReversed
  | RefundDue
  | TransferReceived

export type LedgerEvent = PaymentEvent | PriceListPublished | DistributionPaid
