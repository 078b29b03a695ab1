import type { Address } from '@tollbook/core/address'
import type { LandingBound, ProvenAbsent, ProvenExpired } from './absence.ts'
import type { SignedTransaction, SimulatedEffects, Simulation } from './proof.ts'
import type { Refusal } from '@tollbook/core/refusal'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from './transactionRecord.ts'

/** A query throws a retryable `Fault` if no node can answer, because a missing answer is not a result. */
export interface ChainReader {
  /**
   * Finds a transaction. Concurrent lookups of one signature share queries, and most answers are cached for a short
   * time.
   */
  find(signature: Signature, options?: FindOptions): Promise<Finding>
  /** Proves that no block can include such a transaction. Undefined if the nodes do not prove it yet. */
  proveExpiry(bound: LandingBound): Promise<ProvenExpired | undefined>
  readBalance(question: BalanceQuestion): Promise<Balance>
  /**
   * Parses a transaction and checks every signature without the network, so that a forged transaction costs no RPC call
   * (I9).
   */
  readTransaction(bytes: Uint8Array): SignedTransaction | Refusal
  /**
   * Derives the effects from the bytes, without a simulation. Undefined if the bytes do not show all effects of a
   * success.
   */
  readEffects(transaction: Pick<SignedTransaction, 'bytes'>): SimulatedEffects | undefined
  /** Simulates a transaction. Only a node at the newest known slot can report that the transaction would fail. */
  simulate(transaction: Pick<SignedTransaction, 'bytes'>, options?: SimulateOptions): Promise<Simulation>
  /** Sends exactly these bytes. A repeated call is harmless, because the chain takes a signature once. */
  broadcast(transaction: Pick<SignedTransaction, 'bytes'>, options?: BroadcastOptions): Promise<void>
  /** Returns a bound that holds for any transaction whose bytes exist now. */
  landingBound(): LandingBound
  /**
   * Returns the newest block time plus the time elapsed since, so that a wrong wall clock cannot change a payment's
   * age.
   */
  timeMs(): number
}

export interface SimulateOptions {
  /** Present if a signer has not signed yet. */
  readonly withoutSignatures?: true
  /** A rejection counts only if two nodes (one, if only one is configured) returned rejected effects. */
  readonly accepts?: (effects: SimulatedEffects) => boolean | Promise<boolean>
}

export interface BroadcastOptions {
  /** The node simulates first, and does not forward a transaction that would fail. */
  readonly rehearses?: true
}

export interface FindOptions {
  /** Milliseconds. Absent: one search, without a wait. */
  readonly waitMs?: number
  /** True if this service sent the transaction, so that any slot may contain it. */
  readonly isSent?: boolean
  /** Absent: the configured commitment. */
  readonly commitment?: 'finalized'
  /** Ignores a cached absence from an earlier state. The result states the slot that was searched. */
  readonly minSlot?: number
  /**
   * Skips the cache. A record counts only if two nodes return the same one (one, if only one is configured). Throws a
   * retryable fault if two nodes disagree.
   */
  readonly isAgreed?: true
  /** Last block height at which the transaction can land. Undefined: its absence cannot be proven. */
  readonly bound?: LandingBound | undefined
}

/** `Found` and `ProvenAbsent` are verdicts. `Unknown` is not: the caller may retry with the same proof. */
export type Finding = Found | ProvenAbsent | Unknown

/** A transaction that landed. `record` may show that it failed, so a found transaction is not yet a payment. */
export interface Found {
  readonly kind: 'found'
  readonly record: TransactionRecord
  readonly slot: number
  /** Number of nodes that have just returned this record. 0 if it is cached. */
  readonly nodes: number
  /** True if two nodes have just returned the record, or one if only one is configured. A single node may be wrong. */
  readonly isAgreed: boolean
}

export interface Unknown {
  readonly kind: 'unknown'
  readonly why: string
  /** True if a node has the transaction below the required commitment, or if too few nodes have it. */
  readonly isSeen: boolean
  /** True if two nodes (one, if only one is configured) have searched for it and do not have it. */
  readonly isAgreed: boolean
  /** Oldest state in which the transaction was searched. A balance of a later slot does not prove a shortage. */
  readonly slot: number
}

export interface BalanceQuestion {
  readonly wallet: Address
  /** Absent: the service token. */
  readonly mint?: Address
  /** Reads a state of this slot or a later one. */
  readonly minSlot?: number
  /** Skips the caches, because the balance is compared with the ledger or with open payments. */
  readonly isFresh?: boolean
  /** `finalized`: excludes payments of the last seconds that are not final. Absent: `confirmed`. */
  readonly commitment?: 'finalized'
  /** A balance below this amount counts only after every node was queried. */
  readonly enoughBaseUnits?: bigint
}

export interface Balance {
  readonly baseUnits: bigint
  readonly slot: number
  /**
   * True if two nodes have answered (one, if only one is configured), or one reported at least `enoughBaseUnits`.
   * Always true without `enoughBaseUnits`.
   */
  readonly isAgreed: boolean
}
