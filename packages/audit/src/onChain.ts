import type { AuditedSettlement } from './settlement.ts'

/* Facts of an event that a signature or a node can confirm: the stored signed bytes, and the transaction on chain. */

export interface SignedBytes {
  /** Bytes of the signed transaction in base64. Null if the bytes were not stored. */
  readonly transactionBase64: string | null
  /** True if the event was recorded before the service sent the bytes. A later event may contain the same bytes again. */
  readonly isSent?: boolean
  /** Payment that the bytes must contain. */
  readonly payment?: AuditedSettlement
  /** Burn that the bytes must contain. */
  readonly burn?: { readonly mint: string; readonly baseUnits: bigint }
}

export type OnChain =
  | { readonly is: 'payment'; readonly settlement: AuditedSettlement }
  /** A payment that is recorded as dropped or failed. The chain must not have its tokens of this mint. */
  | ({ readonly is: 'dropped'; readonly mint: string } & Absence)
  /** A transaction of the service that is recorded as failed. The chain must not have it. */
  | ({ readonly is: 'failed' } & Absence)
  /** A transaction for which the balance change of a payment token account is checked. */
  | ({ readonly is: 'change' } & RecordedChange)

interface Absence {
  /** Final slot at which the service concluded that the chain does not have the transaction. */
  readonly finalizedSlot: number
}

export interface RecordedChange {
  readonly mint: string
  readonly slot: number
  readonly changeBaseUnits: bigint
  /**
   * Time at which tokens left the account, to select the wallets that could pay at this time. Undefined: tokens
   * arrived, in the account of any payment wallet.
   */
  readonly leftAtMs?: number
  /** Wallet that must have sent the largest amount. Null: tokens were minted. Undefined: not checked. */
  readonly sender?: string | null
  /** Wallets that must have received the tokens, with their amounts. Undefined: not checked. */
  readonly receivers?: readonly { readonly wallet: string; readonly paidBaseUnits: bigint }[]
  readonly burnedBaseUnits?: bigint
}
