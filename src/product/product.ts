import type { Json } from '@tollbook/core/canonicalJson'
import type { Price } from '@tollbook/core/quote'
import type { DepositLimits, TabDeposit } from '@tollbook/core/tab'
import type { MeteredPrice, Usage } from '../pricing/meteredPrice.ts'

/** GET and DELETE take their parameters from query and path, the others from body and path. */
export type ProductMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A product as the paywall and the HTTP layer see it: a path with a price. */
export interface Product {
  /** An exact path, or a pattern with `{name}` segments, such as `/items/{id}`. Both are also the name of its price. */
  readonly path: string
  readonly method: ProductMethod
}

/** Checked parameters of an order, and the handler that delivers it. */
export interface CheckedOrder {
  /** The name of the order's price in price lists, quotes and receipts: the path of the product, or that of a variant. */
  readonly endpoint: string
  /**
   * The same, as if each variant had its own price. A payment made under this name, while the variant had a price,
   * still buys the order.
   */
  readonly formerEndpoint?: string
  /** Parameters of query or body, together with those of the path. */
  readonly parameters: Json
  /** Present if the product takes a raw body. It is a part of the order. */
  readonly body?: BodyIdentity
  /** Present if the product passes headers on, and the caller sent any of them. They are a part of the order. */
  readonly headers?: PassedHeaders
  /** Undefined if the product can be sold now; otherwise the reason, for the caller. Called before every quote. */
  readonly whyUnavailable: (payer?: string) => string | undefined
  /**
   * Undefined if a paid order can be delivered; otherwise the reason. A long queue stops new buyers only, so it is not
   * a reason here.
   */
  readonly whyUndeliverable: (payer?: string) => string | undefined
  /** Returns the reason if the answer is known to be missing without a request to a provider; otherwise undefined. */
  readonly whyNoData: () => string | undefined
  /**
   * Units of input that a price by use counts, before the answer. Present if the answer can end where a budget ends:
   * then the caller may permit less than the price.
   */
  readonly inputUnits?: number
  /** Limits of what the price covers, such as the model and its tokens; shown in the 402. */
  readonly covers?: () => Json | undefined
  readonly deliver: (job: Job) => Promise<Outcome>
}

/** One attempt to deliver an order. */
export interface Job extends SentParts {
  /** Aborted at the deadline of the attempt. A stream's provider must stop when it is aborted. */
  readonly signal: AbortSignal
  readonly requestId: string
  /** Wallet of the buyer. */
  readonly payer: string
  /** Reference of the payment. All attempts for one payment share it. */
  readonly payment: string
  /** Present if the order is paid by use: its price, and the most that it may cost. */
  readonly metered?: MeteredJob
  /** The price that was paid, for products that sell a balance. */
  readonly price?: Price
}

/** Headers by their names in lower case. */
export type PassedHeaders = Readonly<Record<string, string>>

/** An order that is paid by use. */
export interface MeteredJob {
  readonly price: MeteredPrice
  /** The handler must end its answer where it would cost more. */
  readonly budgetMicroUsd: bigint
}

/** A body that is not parsed. */
export interface RawBody {
  /** As sent. Its media type is one of those that the product accepts. */
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** Body and headers of a request that are passed on as they were sent. */
export interface SentParts {
  /** The body of a product with a raw body. */
  readonly body?: RawBody
  readonly headers?: PassedHeaders
}

/** Identifies a raw body in an order. */
export interface BodyIdentity extends Pick<RawBody, 'contentType'> {
  /** SHA-256 in hex of the bytes. */
  readonly digest: string
}

export type Outcome = Value | Raw | Stream | Failure

/** A complete answer, available before its first byte is sent. */
export interface Value {
  readonly kind: 'delivered'
  readonly data: Json
  readonly meta: Meta
  /** Units that a price by use counts. Ignored for orders with a fixed price. */
  readonly usage?: Usage
  /** Present if the order was a deposit on a tab. */
  readonly deposit?: LimitedDeposit
}

export type LimitedDeposit = TabDeposit & { readonly limits: DepositLimits }

/**
 * A complete answer of any content type, sent without an envelope. It is committed before it is sent, and its receipt
 * is a header.
 */
export interface Raw {
  readonly kind: 'raw'
  readonly contentType: string
  readonly bytes: Uint8Array
  /** As of a `Value`. */
  readonly usage?: Usage
  /** Further headers for the caller. Names that the service itself sets are left out. */
  readonly headers?: Readonly<Record<string, string>>
  readonly meta: Meta
}

/**
 * An answer that is produced while it is sent. Chunks are sent unchanged, and their digest is sealed at the end. A
 * stream that ends early must throw: an iterator that just stops has delivered everything.
 */
export interface Stream {
  readonly kind: 'stream'
  /** For example `text/event-stream`. */
  readonly contentType: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly meta: Meta
  /** Returns the usage so far. Read at the end, or when the caller has left an order that is paid by use. */
  readonly usageSoFar?: () => Usage
}

/** A failed attempt: nothing is sold. `message` is sent to the caller. */
export interface Failure {
  readonly kind: 'failed'
  readonly code: HandlerFailure
  readonly message: string
  /** True if another attempt is not worth its cost. This attempt is the last of its payment, which is then owed back. */
  readonly endsPayment?: boolean
}

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

/** The provider of the data, and the time to which the data applies. */
export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}
