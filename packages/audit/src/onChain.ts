import type { AuditedSettlement } from './settlement.ts'

/* Facts of an event that a node or a signature can confirm: the stored signed bytes, and the transaction on chain. */

export interface SignedBytes {
  /** Null if the bytes were not kept. */
  readonly transactionBase64: string | null
  /** True if the bytes were stored before they were sent. The same bytes may be stored again after they landed. */
  readonly isSent?: boolean
  /** Payment that the bytes must contain. */
  readonly payment?: AuditedSettlement
  /** Burn that the bytes must contain. */
  readonly burn?: { readonly mint: string; readonly baseUnits: bigint }
}

export type OnChain =
  | { readonly is: 'payment'; readonly settlement: AuditedSettlement }
  /** A transaction that is recorded as dropped by the chain, or as failed. No tokens of the mint may have arrived. */
  | { readonly is: 'dropped'; readonly mint: string }
  /** A transaction of the service itself that is recorded as failed. */
  | { readonly is: 'failed' }
  /** A transaction of which only the change of a payment token account is checked. */
  | ({ readonly is: 'change' } & RecordedChange)

export interface RecordedChange {
  readonly mint: string
  readonly slot: number
  readonly changeBaseUnits: bigint
  /**
   * Time at which tokens left the account. The account belongs to a wallet that pays at this time. Undefined: tokens
   * arrived, in any of the accounts.
   */
  readonly leftAtMs?: number
  /** Wallet that must have sent the most of what arrived. Null: no wallet sent it. */
  readonly sender?: string | null
  /** Wallets that must have received the tokens, with their amounts. */
  readonly receivers?: readonly { readonly wallet: string; readonly paidBaseUnits: bigint }[]
  readonly burnedBaseUnits?: bigint
}
