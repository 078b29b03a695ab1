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
  /** Looks a transaction up. Equal lookups at the same moment share one query, and an answer is cached for a moment. */
  find(signature: Signature, options?: FindOptions): Promise<Finding>
  /** Proves that no block can take a transaction with this bound any more. Undefined while that is not proven. */
  proveExpiry(bound: LandingBound): Promise<ProvenExpired | undefined>
  readBalance(question: BalanceQuestion): Promise<Balance>
  /** Decodes the transaction and checks every signature, without the network. */
  readTransaction(bytes: Uint8Array): SignedTransaction | Refusal
  /**
   * Returns effects that the bytes show without a rehearsal or the network, if the transaction succeeds. Undefined if
   * the bytes do not show all effects.
   */
  readEffects(transaction: Pick<SignedTransaction, 'bytes'>): SimulatedEffects | undefined
  /** Simulates the transaction. Only a node at the newest known slot can report that it would fail. */
  simulate(transaction: Pick<SignedTransaction, 'bytes'>, options?: SimulateOptions): Promise<Simulation>
  /** Sends exactly these bytes. A repeated call is harmless, because the chain takes a signature once. */
  broadcast(transaction: Pick<SignedTransaction, 'bytes'>, options?: BroadcastOptions): Promise<void>
  /** A bound for any transaction whose bytes exist now. */
  landingBound(): LandingBound
  /** Time of the chain: the time of its newest known block plus the time since. It does not use a wall clock. */
  timeMs(): number
}

export interface SimulateOptions {
  /** Present if a signer has not signed yet. */
  readonly withoutSignatures?: true
  /** Tests effects. Rejected effects count only after as many nodes as end a payment have shown rejected effects. */
  readonly accepts?: (effects: SimulatedEffects) => boolean | Promise<boolean>
}

export interface BroadcastOptions {
  /** Present if the node rehearses the transaction and does not forward one that would fail. */
  readonly rehearses?: true
}

export interface FindOptions {
  /** 0 by default. */
  readonly waitMs?: number
  /** True if this service sent the transaction, so that any slot may contain it. */
  readonly isSent?: boolean
  /** `finalized` if a younger answer is not enough. By default the configured commitment. */
  readonly commitment?: 'finalized'
  /** An absence counts only in a state of this slot or a later one. */
  readonly minSlot?: number
  /**
   * Skips the cache and reads from as many nodes as end a payment, which is two if two are configured. Throws a
   * retryable fault if the nodes disagree.
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
  readonly slot: number
  /** Number of nodes that have just returned this record. 0 if it is cached. */
  readonly nodes: number
  /** True if these are as many nodes as end a payment, which is two if two are configured. */
  readonly isAgreed: boolean
}

/** The transaction is neither found nor proven absent. The caller may retry with the same proof. */
export interface Unknown {
  readonly kind: 'unknown'
  readonly why: string
  /** True if a node has the transaction, but below the commitment, or if too few nodes have it. */
  readonly isSeen: boolean
  /** True if as many nodes as end a payment have answered. */
  readonly isAgreed: boolean
  /** The oldest of the states in which the transaction was searched. */
  readonly slot: number
}

export interface BalanceQuestion {
  readonly wallet: Address
  /** The service token by default. */
  readonly mint?: Address
  /** Reads a state of this slot or a later one. */
  readonly minSlot?: number
  /** Asks the chain even if an answer is younger than a second. For a balance that is compared with the ledger. */
  readonly isFresh?: boolean
  /** `finalized` for a balance without the effect of payments of the last seconds. By default `confirmed`. */
  readonly commitment?: 'finalized'
  /** A smaller balance counts only after every node was queried. */
  readonly enoughBaseUnits?: bigint
}

export interface Balance {
  readonly baseUnits: bigint
  readonly slot: number
  /** True if as many nodes as end a payment have answered. */
  readonly isAgreed: boolean
}
