import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TokenBalance, TokenMovement } from './transactionRecord.ts'

/** A transaction whose signatures the service has verified. */
export interface SignedTransaction {
  readonly signature: Signature
  readonly bytes: Uint8Array
  readonly signers: readonly Address[]
  /** Undefined if the transaction uses an address lookup table, whose accounts are not in the bytes. */
  readonly accounts: readonly Address[] | undefined
  readonly blockhash: string
  readonly usesDurableNonce: boolean
}

/** Only `would_succeed` and `would_fail` are statements about the transaction. */
export type Simulation =
  | { readonly outcome: 'would_succeed'; readonly effects: SimulatedEffects; readonly bound: LandingBound }
  | {
      readonly outcome: 'would_fail'
      readonly text: string
      readonly insufficientFunds: boolean
      /** Slot of the state in which two nodes (one, if only one is configured) reported the failure. */
      readonly slot: number
    }
  /** The blockhash is too old or too new for the nodes, or too few nodes could simulate in the newest state. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'already_landed' }

/** Effects that a transaction would have now, which are not evidence of a payment. */
export interface SimulatedEffects {
  readonly movements: readonly TokenMovement[]
  readonly memos: readonly string[]
  /** Undefined if the node returns no balances of a simulation. Only the instructions can then be judged. */
  readonly balances: readonly TokenBalance[] | undefined
}
