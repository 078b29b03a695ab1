import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TokenBalance, TokenMovement } from './transactionRecord.ts'

/** A fully signed transaction. The service verifies the signatures before any other work on the transaction. */
export interface SignedTransaction {
  readonly signature: Signature
  readonly bytes: Uint8Array
  readonly signers: readonly Address[]
  /** Every account that the transaction can touch. Undefined if the transaction uses an address lookup table. */
  readonly accounts: readonly Address[] | undefined
  readonly blockhash: string
  readonly usesDurableNonce: boolean
}

/** Result of a simulation. Only `would_succeed` and `would_fail` are statements about the transaction. */
export type Simulation =
  | { readonly outcome: 'would_succeed'; readonly effects: SimulatedEffects; readonly bound: LandingBound }
  | {
      readonly outcome: 'would_fail'
      readonly text: string
      readonly insufficientFunds: boolean
      /**
       * Slot of the state in which the transaction would fail. Two nodes (one, if only one is configured) have reported
       * the failure.
       */
      readonly slot: number
    }
  /**
   * The blockhash is too old or too new for the nodes, or too few nodes could simulate the transaction in the newest
   * state.
   */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'already_landed' }

/** Effects that a transaction would have now. A simulation is not evidence of payment. */
export interface SimulatedEffects {
  readonly movements: readonly TokenMovement[]
  readonly memos: readonly string[]
  /** Undefined if the node does not return token balances of a simulation. */
  readonly balances: readonly TokenBalance[] | undefined
}
