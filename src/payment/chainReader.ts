import type { Address } from '@tollbook/core/address'
import type { LandingBound, ProvenAbsent, ProvenExpired } from './absence.ts'
import type { SignedTransaction, SimulatedEffects, Simulation } from './proof.ts'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/**
 * Chain operations of the paywall. Every method except `readTransaction`, `readEffects`, `landingBound` and `timeMs`
 * queries nodes. It throws a retryable `Fault` if no node can answer, because a missing answer is not a result.
 */
export interface ChainReader {
  /** Looks a transaction up. Concurrent equal lookups share one query, and each answer is cached briefly. */
  find(signature: Signature, options?: FindOptions): Promise<Finding>
  /**
   * Proves that no block can include a transaction with this bound any more. Undefined if the nodes do not prove it
   * yet.
   */
  proveExpiry(bound: LandingBound): Promise<ProvenExpired | undefined>
  readBalance(question: BalanceQuestion): Promise<Balance>
  /** Decodes the transaction and checks every signature, without the network. */
  readTransaction(bytes: Uint8Array): SignedTransaction | Refusal
  /**
   * Returns the effects that the transaction has if it succeeds, from its bytes alone, without a simulation. Undefined
   * if the bytes do not show all effects.
   */
  readEffects(transaction: Pick<SignedTransaction, 'bytes'>): SimulatedEffects | undefined
  /** Simulates the transaction. Only a node at the newest known slot can report that the transaction would fail. */
  simulate(transaction: Pick<SignedTransaction, 'bytes'>, options?: SimulateOptions): Promise<Simulation>
  /** Sends exactly these bytes. A repeated call is harmless, because the chain takes a signature once. */
  broadcast(transaction: Pick<SignedTransaction, 'bytes'>, options?: BroadcastOptions): Promise<void>
  /** Returns a landing bound that is valid for any transaction whose bytes exist now. */
  landingBound(): LandingBound
  /**
   * Returns the time of the chain: the time of its newest known block plus the time elapsed since. It does not use the
   * wall clock.
   */
  timeMs(): number
}

export interface SimulateOptions {
  /** Present if a signer has not signed yet. */
  readonly withoutSignatures?: true
  /**
   * Tests the simulated effects. A rejection counts only after two nodes (one, if only one is configured) have returned
   * rejected effects.
   */
  readonly accepts?: (effects: SimulatedEffects) => boolean | Promise<boolean>
}

export interface BroadcastOptions {
  /** Present if the node must simulate the transaction first, and must not forward it if it would fail. */
  readonly rehearses?: true
}

export interface FindOptions {
  /** Time to wait for the transaction, in milliseconds. Absent: 0. */
  readonly waitMs?: number
  /** True if this service sent the transaction, so that any slot may contain it. */
  readonly isSent?: boolean
  /** `finalized`: return the transaction only if it is finalized. Absent: the configured commitment. */
  readonly commitment?: 'finalized'
  /** An absence counts only if the node searched a state of this slot or a later one. */
  readonly minSlot?: number
  /**
   * Skips the cache and requires the same record from two nodes, or from one if only one is configured. Throws a
   * retryable fault if the nodes disagree.
   */
  readonly isAgreed?: true
  /** Last block height at which the transaction can land. Undefined: its absence cannot be proven. */
  readonly bound?: LandingBound | undefined
}

/** Result of a lookup. `Found` and `ProvenAbsent` are verdicts. `Unknown` is not. */
export type Finding = Found | ProvenAbsent | Unknown

/** A transaction that landed. `record` may show that it failed. */
export interface Found {
  readonly kind: 'found'
  readonly record: TransactionRecord
  readonly slot: number
  /** Number of nodes that have just returned this record. 0 if the record is cached. */
  readonly nodes: number
  /** True if two nodes have just returned the record, or one node if only one is configured. */
  readonly isAgreed: boolean
}

/** The transaction is neither found nor proven absent. The caller may retry with the same proof. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly why: string
  /** True if a node has the transaction below the required commitment, or if too few nodes have it. */
  readonly isSeen: boolean
  /** True if two nodes have answered, or one node if only one is configured. */
  readonly isAgreed: boolean
  /** Slot of the oldest state in which the transaction was searched. */
  readonly slot: number
}

export interface BalanceQuestion {
  readonly wallet: Address
  /** Mint of the balance. Absent: the service token. */
  readonly mint?: Address
  /** Reads a state of this slot or a later one. */
  readonly minSlot?: number
  /**
   * Queries the chain even if the cached answer is less than a second old. Used for a balance that is compared with the
   * ledger.
   */
  readonly isFresh?: boolean
  /** `finalized`: the balance excludes payments of the last seconds that are not final. Absent: `confirmed`. */
  readonly commitment?: 'finalized'
  /** A balance below this amount counts only after every node was queried. */
  readonly enoughBaseUnits?: bigint
}

export interface Balance {
  readonly baseUnits: bigint
  readonly slot: number
  /**
   * True if two nodes have answered, or one node if only one is configured. Also true if one node returned at least
   * `enoughBaseUnits`.
   */
  readonly isAgreed: boolean
}
