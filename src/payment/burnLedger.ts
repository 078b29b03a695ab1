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
  /** Reads the burn debts after this position. The result contains debts of final payments only. */
  readDebts(mint: Address, afterPosition: number): Promise<BurnDebts>
  record(burn: RecordedBurn): Promise<RecordOutcome>
}

export interface BurnRounds {
  /** Number of the newest round. 0 before the first. */
  readonly lastRound: number
  /** The newest round. Undefined if it has ended. */
  readonly open: OpenBurn | undefined
  readonly burnedThroughPosition: number
}

export interface OpenBurn extends SubmitBurn {
  readonly signature: Signature
}

export interface RecordedBurn {
  readonly signature: Signature
  readonly event: BurnEvent
  readonly effectiveAtMs: number
}

/** `overtaken`: another job has recorded the round or its end. */
export type RecordOutcome = 'recorded' | 'overtaken'
