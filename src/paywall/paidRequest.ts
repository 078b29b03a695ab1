import type { Address } from '@tollbook/core/address'
import type { Refusal } from '@tollbook/core/refusal'
import type { CheckedOrder } from '../product/product.ts'
import type { Answer } from './answer.ts'
import type { OrderRequest } from './rail.ts'

/** One request, as far as the paywall needs it. Framing, routes and limits are behind it. */
export interface PaidRequest extends OrderRequest {
  readonly requestId: string
  /** Parses query or body once; an answer when they are not what the endpoint takes. */
  readParameters(): Promise<CheckedOrder | Answer>
  /** Refuses a caller with too many unpaid quotes. Called before a quote is stored. */
  limitQuotes(payer: Address | undefined): Refusal | undefined
  /** Refuses a caller with too many unknown proofs. Called before a proof that the ledger does not know is looked for. */
  limitLookups(): Refusal | undefined
  /** The payment is claimed, and this request will serve it. */
  onClaimed(claimed: ClaimedPayment): void
}

/** A claim, for the limits of its caller: nothing of the purchase counts against them. */
export interface ClaimedPayment {
  readonly payer: Address
  readonly priceMicroUsd: bigint
  /** False when an earlier attempt with the same payment was released. */
  readonly isFirst: boolean
}
