import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { BurnDebts, SubmitBurn } from './burn.ts'
import type { BurnEvent } from './events.ts'

/**
 * Operations of the burn job on the ledger. They throw a retryable `Fault` if it is unknown whether an event was
 * recorded.
 */
export interface BurnLedger {
  readRounds(mint: Address): Promise<BurnRounds>
  /** Returns all burn debts of final payments after this position. */
  readDebts(mint: Address, afterPosition: number): Promise<BurnDebts>
  record(burn: RecordedBurn): Promise<RecordOutcome>
}

/** State of the rounds of a mint. */
export interface BurnRounds {
  /** Number of the newest round. 0 before the first. */
  readonly lastRound: number
  /** The newest round. Undefined if it has ended. */
  readonly open: OpenBurn | undefined
  /** Position up to which the debts are burned. */
  readonly burnedThroughPosition: number
}

export interface OpenBurn extends SubmitBurn {
  readonly signature: Signature
}

/** A burn event in the stream of its transaction. */
export interface RecordedBurn {
  readonly signature: Signature
  readonly event: BurnEvent
  readonly effectiveAtMs: number
}

/** `overtaken`: another job has recorded the round or its end. */
export type RecordOutcome = 'recorded' | 'overtaken'
