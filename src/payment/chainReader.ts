import type { Address } from '@tollbook/core/address'
import type { LandingBound, ProvenAbsent, ProvenExpired } from './absence.ts'
import type { SignedTransaction, SimulatedEffects, Simulation } from './proof.ts'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/**
 * Chain operations of the paywall. Every method except `readTransaction`, `readEffects`, `landingBound` and `timeMs` queries nodes and
 * throws a retryable `Fault` if none can answer: silence is never an answer.
 */
export interface ChainReader {
  /** Looks a transaction up. Equal lookups at the same moment are one, and an answer is remembered for a moment. */
  find(signature: Signature, options?: FindOptions): Promise<Finding>
  /** Whether no block can take a transaction with this bound any more. Undefined while that is not proven. */
  proveExpiry(bound: LandingBound): Promise<ProvenExpired | undefined>
  /** All of the wallet's token accounts of the service token together. */
  readBalance(question: BalanceQuestion): Promise<Balance>
  /** Decodes and checks every signature; no network. */
  readTransaction(bytes: Uint8Array): SignedTransaction | Refusal
  /** Effects that the bytes show without a rehearsal, if the transaction succeeds; no network. Undefined when they do not show all of them. */
  readEffects(transaction: Pick<SignedTransaction, 'bytes'>): SimulatedEffects | undefined
  /** Simulates the transaction. Only a node at the newest known slot can report that it would fail. */
  simulate(transaction: Pick<SignedTransaction, 'bytes'>, options?: SimulateOptions): Promise<Simulation>
  /** Sends exactly these bytes. Sending them again is harmless: the chain takes a signature once. */
  broadcast(transaction: Pick<SignedTransaction, 'bytes'>, options?: BroadcastOptions): Promise<void>
  /** Bound for any transaction whose bytes exist by now. */
  landingBound(): LandingBound
  /** Time of the chain: that of its newest known block, and what has passed since. No wall clock is part of it. */
  timeMs(): number
}

export interface SimulateOptions {
  /** Present when a signer has yet to sign. */
  readonly withoutSignatures?: true
  /** Effects that it rejects are not believed before as many nodes as end a payment have shown some that it rejects. */
  readonly accepts?: (effects: SimulatedEffects) => boolean | Promise<boolean>
}

export interface BroadcastOptions {
  /** The node rehearses the transaction, and does not forward one that would fail. */
  readonly rehearses?: true
}

export interface FindOptions {
  /** Time to wait for it to land; 0 by default. */
  readonly waitMs?: number
  /** It was sent by this service, so each slot may have it. */
  readonly isSent?: boolean
  /** `finalized` where a younger answer is not enough. By default the commitment of the configuration. */
  readonly commitment?: 'finalized'
  /** An absence counts only in a state of this slot or a later one. */
  readonly minSlot?: number
  /**
   * Skips the memory and reads from as many nodes as end a payment: two where two are configured. Throws a retryable
   * fault when they disagree.
   */
  readonly isAgreed?: true
  /** Without a bound, absence cannot be proven. */
  readonly bound?: LandingBound | undefined
}

/** The three answers about a transaction. Only `Found` and `ProvenAbsent` are verdicts. */
export type Finding = Found | ProvenAbsent | Unknown

/** A transaction that landed. `record` may show that it failed. */
export interface Found {
  readonly kind: 'found'
  readonly record: TransactionRecord
  /** In which it landed. */
  readonly slot: number
  /** Number of nodes that have just returned this record; 0 when it is remembered. */
  readonly nodes: number
  /** These are as many nodes as end a payment: two where two are configured. */
  readonly isAgreed: boolean
}

/** Neither found nor proven absent: the caller may retry with the same proof. */
export interface Unknown {
  readonly kind: 'unknown'
  /** For the caller and the log. */
  readonly why: string
  /** A node has it, but not at the commitment, or not enough nodes have it. */
  readonly isSeen: boolean
  /** As many nodes as end a payment have answered. */
  readonly isAgreed: boolean
  /** The oldest state among those in which it was looked for. */
  readonly slot: number
}

/** The tokens of one wallet in its associated token account. */
export interface BalanceQuestion {
  readonly wallet: Address
  /** In a state of this slot or a later one. */
  readonly minSlot?: number
  /** `finalized` for what cannot be the effect of a payment of the last seconds. By default `confirmed`. */
  readonly commitment?: 'finalized'
  /** A smaller balance is not believed before every node was asked. */
  readonly enoughBaseUnits?: bigint
}

/** A balance and the state that it was read from. */
export interface Balance {
  readonly baseUnits: bigint
  readonly slot: number
  /** As many nodes as end a payment have answered. */
  readonly isAgreed: boolean
}
