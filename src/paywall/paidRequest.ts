import type { Address } from '@tollbook/core/address'
import type { Refusal } from '@tollbook/core/refusal'
import type { CheckedOrder } from '../product/product.ts'
import type { Answer } from './answer.ts'
import type { OrderRequest } from './rail.ts'

export interface PaidRequest extends OrderRequest {
  readonly requestId: string
  readParameters(): Promise<CheckedOrder | Answer>
  limitQuotes(payer: Address | undefined): Refusal | undefined
  /** Limits lookups of payments that the ledger has not verified, because each lookup costs RPC calls. */
  limitLookups(): Refusal | undefined
  onClaimed(claimed: ClaimedPayment): void
}

/** After the first claim of a payment, the caller's limits get back what the purchase has used. */
export interface ClaimedPayment {
  readonly payer: Address
  /** 0 for a debit of a tab. */
  readonly priceMicroUsd: bigint
  /** False for a repeated attempt with the same payment. */
  readonly isFirst: boolean
  /** True if the payment is for a stored quote, which is then paid. */
  readonly isQuoted: boolean
}
