import type { AuditedSettlement } from './settlement.ts'

/* Facts of an event about the chain: the signed bytes that it keeps, and the transaction that a node must have. */

export interface SignedBytes {
  /** Null: the bytes were not kept. */
  readonly transactionBase64: string | null
  /** The bytes were stored before they were sent; the same ones may be stored again as they landed. */
  readonly isSent?: boolean
  /** Payment that the bytes must make. */
  readonly payment?: AuditedSettlement
  /** Burn that the bytes must make. */
  readonly burn?: { readonly mint: string; readonly baseUnits: bigint }
}

export type OnChain =
  | { readonly is: 'payment'; readonly settlement: AuditedSettlement }
  /** Recorded as dropped by the chain, or as failed: nothing of the mint has arrived. */
  | { readonly is: 'dropped'; readonly mint: string }
  /** A transaction of the service itself that is recorded as failed. */
  | { readonly is: 'failed' }
  /** A change of the payment token account, and nothing else of it. */
  | ({ readonly is: 'change' } & RecordedChange)

export interface RecordedChange {
  readonly mint: string
  readonly slot: number
  readonly changeBaseUnits: bigint
  /** Tokens left the account at this time: it is one of a wallet that pays then. Undefined: any of the accounts received them. */
  readonly leftAtMs?: number
  /** Wallets that must have received it, with their amounts. */
  readonly receivers?: readonly { readonly wallet: string; readonly paidBaseUnits: bigint }[]
  readonly burnedBaseUnits?: bigint
}
