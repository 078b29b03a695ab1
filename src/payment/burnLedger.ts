import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { BurnDebts, SubmitBurn } from './burn.ts'
import type { BurnEvent } from './events.ts'

/** Every method throws a retryable `Fault` if the outcome is unknown. */
export interface BurnLedger {
  readRounds(mint: Address): Promise<BurnRounds>
  /** Returns debts of final payments only: the chain may still drop the others, and a burn cannot be undone. */
  readDebts(mint: Address, afterPosition: number): Promise<BurnDebts>
  record(burn: RecordedBurn): Promise<RecordOutcome>
}

export interface BurnRounds {
  /** Number of the newest round. 0 before the first. */
  readonly lastRound: number
  /** The newest round. Undefined if it has ended, and before the first round. */
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
