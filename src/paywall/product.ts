import type { Json } from '@tollbook/core/canonicalJson'
import type { Answer } from './answer.ts'

/** What is sold, as the paywall sees it: a price by its path. It knows nothing of what is inside. */
export interface Product {
  readonly path: string
  readonly method: 'GET' | 'POST'
}

export interface Job {
  /** Aborted at the deadline of the attempt. */
  readonly signal: AbortSignal
  readonly requestId: string
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly data: Json; readonly meta: Meta }
  | { readonly kind: 'failed'; readonly code: HandlerFailure; readonly message: string }

export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

/** One request, as far as the paywall needs it. Framing, routes and limits are behind it. */
export interface PaidRequest {
  readonly requestId: string
  /** The value of a header, undefined when it is absent or blank. */
  header(name: string): string | undefined
  /** Parses query or body once; an answer when they are not what the endpoint takes. */
  readParameters(): Promise<Ordered | Answer>
}

/** Checked parameters, and the handler that makes an answer of them. */
export interface Ordered {
  readonly parameters: Json
  /** Undefined when it can be sold now; otherwise what is missing, in words for the caller. */
  whyUnavailable(): string | undefined
  /** Undefined unless it is known without asking anybody that there is nothing to deliver. */
  whyNoData(): string | undefined
  deliver(job: Job): Promise<Outcome>
}
