import type { Ordered } from '../product/product.ts'
import type { Answer } from './answer.ts'
import type { RailRequest } from './rail.ts'

/** One request, as far as the paywall needs it. Framing, routes and limits are behind it. */
export interface PaidRequest extends RailRequest {
  readonly requestId: string
  /** Parses query or body once; an answer when they are not what the endpoint takes. */
  readParameters(): Promise<Ordered | Answer>
  /** The payment of the request is verified, so its place is no longer that of a stranger. */
  onProven(): void
}
