import type { Ordered } from '../product/product.ts'
import type { Answer } from './answer.ts'

/** One request, as far as the paywall needs it. Framing, routes and limits are behind it. */
export interface PaidRequest {
  readonly requestId: string
  /** The value of a header, undefined when it is absent or blank. */
  header(name: string): string | undefined
  /** Parses query or body once; an answer when they are not what the endpoint takes. */
  readParameters(): Promise<Ordered | Answer>
}
