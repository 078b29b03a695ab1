import type { Json } from '@tollbook/core/canonicalJson'

/** A product as the paywall and the HTTP layer see it: a path with a price. */
export interface Product {
  readonly path: string
  readonly method: 'GET' | 'POST'
}

/** Checked parameters, and the handler that makes an answer of them. */
export interface CheckedOrder {
  /** The name of the order's price in price lists, quotes and receipts: the path of the product, or that of a variant. */
  readonly endpoint: string
  /** The same if each variant had its own price: a payment of that name was made while it had one, and buys the order. */
  readonly formerEndpoint?: string
  readonly parameters: Json
  /** Undefined when the product can be sold now; otherwise the reason, in words for the caller. Asked before every quote. */
  readonly whyUnavailable: (payer?: string) => string | undefined
  /** The same for a payment that has been made: a queue that is too long for a new buyer is not for this one. */
  readonly whyUndeliverable: (payer?: string) => string | undefined
  /** Undefined unless it is known, without asking a provider, that there is nothing to deliver. */
  readonly whyNoData: () => string | undefined
  /** Bounds of what the price covers, such as the model and its tokens; shown in the 402. */
  readonly covers?: () => Json | undefined
  readonly deliver: (job: Job) => Promise<Outcome>
}

/** One attempt to deliver an order. */
export interface Job {
  /** Aborted at the deadline of the attempt. A stream's provider must stop when it is aborted. */
  readonly signal: AbortSignal
  readonly requestId: string
  /** Wallet of the buyer. */
  readonly payer: string
  /** Reference of the payment. Attempts with the same payment have the same one. */
  readonly payment: string
}

export type Outcome = Value | Stream | Failure

/** A whole answer, known before its first byte is sent. */
export interface Value {
  readonly kind: 'delivered'
  readonly data: Json
  readonly meta: Meta
}

/**
 * An answer that is made while it is sent. The chunks go to the caller as they are; their digest is sealed at the end. A
 * stream that ends early throws: an iterator that merely stops has delivered everything.
 */
export interface Stream {
  readonly kind: 'stream'
  /** For example `text/event-stream`. */
  readonly contentType: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly meta: Meta
}

/** The attempt bought nothing. `message` is sent to the caller. */
export interface Failure {
  readonly kind: 'failed'
  readonly code: HandlerFailure
  readonly message: string
  /** No other attempt is worth its cost: this one is the last of its payment, which is then owed back. */
  readonly endsPayment?: boolean
}

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

/** The provider of the data, and the time the data is of. */
export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}
