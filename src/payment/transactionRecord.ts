import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'

/** An adapter throws a fault if a part of a node's answer is missing: an empty list would lead to a wrong verdict. */
export interface TransactionRecord {
  readonly signature: Signature
  readonly slot: number
  /** Undefined if the node has the block but not its time yet. The payment is then retried, because its age is unknown. */
  readonly blockTimeMs: number | undefined
  readonly failure: TransactionFailure | undefined
  readonly signers: readonly Address[]
  readonly movements: readonly TokenMovement[]
  readonly balances: readonly TokenBalance[]
  readonly memos: readonly string[]
  /** Undefined if the transaction has a version whose bytes cannot be rebuilt. */
  readonly bytes: Uint8Array | undefined
}

export interface TransactionFailure {
  readonly text: string
  /** True if the token program refused because the account held too little. */
  readonly insufficientFunds: boolean
}

/** One effect of a token instruction at top level, in an inner instruction, or in a Batch. */
export type TokenMovement =
  | (MovementBase & { readonly kind: 'burn'; readonly source: Address })
  | (MovementBase & { readonly kind: 'transfer'; readonly source: Address; readonly destination: Address })
  | (MovementBase & { readonly kind: 'mintTo'; readonly destination: Address })

interface MovementBase {
  readonly tokenProgram: Address
  readonly mint: Address
  readonly authority: Address
  readonly amountBaseUnits: bigint
}

/**
 * A token account before and after the transaction. An account that the transaction created or closed has 0 on one
 * side.
 */
export interface TokenBalance {
  readonly tokenAccount: Address
  readonly mint: Address
  readonly ownersSeen: readonly Address[]
  readonly beforeBaseUnits: bigint
  readonly afterBaseUnits: bigint
}
