import type { Address } from '@tollbook/core/address'
import type { Refusal } from '@tollbook/core/refusal'
import type { CheckedOrder } from '../product/product.ts'
import type { Answer } from './answer.ts'
import type { OrderRequest } from './rail.ts'

/** A request with the facts that the paywall uses. The HTTP layer handles framing, routes and limits before the paywall. */
export interface PaidRequest extends OrderRequest {
  readonly requestId: string
  /** Parses query or body once. Returns an answer if the endpoint does not accept the input. */
  readParameters(): Promise<CheckedOrder | Answer>
  /** Refuses a caller with too many unpaid quotes. Called before a new quote is stored. */
  limitQuotes(payer: Address | undefined): Refusal | undefined
  /**
   * Refuses a caller with too many unknown proofs. Called before the chain lookup for a proof that the ledger does not
   * contain.
   */
  limitLookups(): Refusal | undefined
  onClaimed(claimed: ClaimedPayment): void
}

/** Facts about a claim for the caller's limits. A claimed request no longer counts against these limits. */
export interface ClaimedPayment {
  readonly payer: Address
  readonly priceMicroUsd: bigint
  /** False if an earlier attempt with the same payment was released. */
  readonly isFirst: boolean
}
