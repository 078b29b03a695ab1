import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'

/**
 * Facts of a chain about one transaction, as plain data. An adapter builds it; the rules of `settlement.ts` judge it. A
 * record is complete or it is not built: a part missing in a node's answer is a fault, never an empty list.
 */
export interface TransactionRecord {
  readonly signature: Signature
  readonly slot: number
  /** Undefined when the node does not know it. */
  readonly blockTimeMs: number | undefined
  /** Undefined when it succeeded. */
  readonly failure: TransactionFailure | undefined
  readonly signers: readonly Address[]
  readonly movements: readonly TokenMovement[]
  readonly balances: readonly TokenBalance[]
  readonly memos: readonly string[]
  /** The transaction's bytes, when they could be rebuilt and every signature in them is right. */
  readonly bytes: Uint8Array | undefined
}

/** Error of a transaction that landed without effect, in words for the caller. */
export interface TransactionFailure {
  readonly text: string
  /** The token program refused because the account held too little. */
  readonly insufficientFunds: boolean
}

/** One effect of a token instruction, wherever it stood: at top level, in an inner instruction, or in a Batch. */
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

/** A token account before and after. An account that the transaction created or closed lacks one side. */
export interface TokenBalance {
  readonly tokenAccount: Address
  readonly mint: Address
  readonly ownersSeen: readonly Address[]
  readonly beforeBaseUnits: bigint
  readonly afterBaseUnits: bigint
}
