import type { Address } from '@tollbook/core/address'
import type { LandingBound } from './absence.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TokenBalance, TokenMovement } from './transactionRecord.ts'

/** A fully signed transaction whose signatures have been verified here, before anything else is spent on it. */
export interface SignedTransaction {
  readonly signature: Signature
  readonly bytes: Uint8Array
  readonly signers: readonly Address[]
  /** Every account that it can touch. Undefined when some are named by an address lookup table. */
  readonly accounts: readonly Address[] | undefined
  readonly blockhash: string
  readonly usesDurableNonce: boolean
}

/** Result of a rehearsal. Only a success and a failure say something about the transaction. */
export type Simulation =
  | { readonly outcome: 'would_succeed'; readonly effects: SimulatedEffects; readonly bound: LandingBound }
  | {
      readonly outcome: 'would_fail'
      readonly text: string
      readonly insufficientFunds: boolean
      /** State in which it would fail. As many nodes as end a payment said that it would. */
      readonly slot: number
    }
  /** Its blockhash is too old or too new for the nodes, or too few of them could rehearse it in the newest state. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'already_landed' }

/** Effects that a transaction would have now. A simulation is not evidence of payment. */
export interface SimulatedEffects {
  readonly movements: readonly TokenMovement[]
  readonly memos: readonly string[]
  /** Undefined from nodes that do not tell the token balances of a simulation. */
  readonly balances: readonly TokenBalance[] | undefined
}
