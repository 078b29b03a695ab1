import type { Address } from '@tollbook/core/address'
import type { Refusal } from '@tollbook/core/refusal'
import type { CheckedOrder } from '../product/product.ts'
import type { Answer } from './answer.ts'
import type { OrderRequest } from './rail.ts'

/** The HTTP layer handles framing, routes and limits before the paywall. */
export interface PaidRequest extends OrderRequest {
  readonly requestId: string
  readParameters(): Promise<CheckedOrder | Answer>
  limitQuotes(payer: Address | undefined): Refusal | undefined
  /** Called before a rail settles a payment that the ledger has not verified, because each settlement costs RPC calls. */
  limitLookups(): Refusal | undefined
  onClaimed(claimed: ClaimedPayment): void
}

/** The first claim of a payment takes back what its purchase has used of the caller's limits. */
export interface ClaimedPayment {
  readonly payer: Address
  readonly priceMicroUsd: bigint
  /** False if an earlier attempt with the same payment was released. */
  readonly isFirst: boolean
}
