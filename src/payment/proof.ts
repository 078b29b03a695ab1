import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import type { TokenBalance, TokenMovement } from './transactionRecord.ts'

/** A fully signed transaction whose signatures have been verified here, before anything else is spent on it. */
export interface SignedTransaction {
  readonly signature: Signature
  readonly bytes: Uint8Array
  readonly signers: readonly Address[]
  readonly blockhash: string
  readonly usesDurableNonce: boolean
}

/** Effects of a transaction if it were sent now. */
export type Simulation =
  | { readonly outcome: 'would_succeed'; readonly effects: SimulatedEffects }
  | { readonly outcome: 'would_fail'; readonly text: string; readonly insufficientFunds: boolean }
  | { readonly outcome: 'blockhash_expired' }
  | { readonly outcome: 'already_landed' }

export interface SimulatedEffects {
  readonly movements: readonly TokenMovement[]
  readonly memos: readonly string[]
  /** Undefined from nodes that do not tell the token balances of a simulation. */
  readonly balances: readonly TokenBalance[] | undefined
}
