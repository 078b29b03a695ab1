import type { Json } from '@tollbook/core/canonicalJson'
import type { Price } from '@tollbook/core/quote'
import type { DepositLimits, TabDeposit } from '@tollbook/core/tab'
import type { MeteredPrice, Usage } from '../pricing/meteredPrice.ts'

/** GET and DELETE take their parameters from query and path. The other methods take parameters from body and path. */
export type ProductMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The part of a product that the paywall and the HTTP layer use. Its price is found by the path. */
export interface Product {
  /**
   * An exact path such as `/items`, or a pattern such as `/items/{id}`. The price list uses the path as the name of the
   * price.
   */
  readonly path: string
  readonly method: ProductMethod
}

/** The checked parameters of an order, and the functions that judge and deliver the order. */
export interface CheckedOrder {
  /** Name of the order's price in price lists, quotes and receipts: the path of the product or the name of a variant. */
  readonly endpoint: string
  /**
   * Name of the order's price if every variant had a separate price. A payment under this name still buys the order,
   * even if the operator has removed the variant's price since.
   */
  readonly formerEndpoint?: string
  /** Parameters from query or body, merged with the parameters from the path. */
  readonly parameters: Json
  /** Type and digest of the raw body, which are part of the order. Present if the product takes a raw body. */
  readonly body?: BodyIdentity
  /**
   * Headers of the caller that are part of the order. Present if the product passes headers on and the caller sent at
   * least one.
   */
  readonly headers?: PassedHeaders
  /**
   * Returns the reason why the order cannot be sold now, in words for the caller. Undefined if it can be sold. Called
   * before every quote.
   */
  readonly whyUnavailable: (payer?: string) => string | undefined
  /**
   * Returns the reason why a paid order cannot be delivered now. Undefined if it can be delivered. A long queue is not
   * a reason here, because it stops only new buyers.
   */
  readonly whyUndeliverable: (payer?: string) => string | undefined
  /**
   * Returns the reason if the answer is known to be missing, without a request to a provider. Undefined: the answer may
   * exist.
   */
  readonly whyNoData: () => string | undefined
  /**
   * Units of input that a price by use counts, known before the answer. Present if the answer can end when a budget is
   * used up. The caller may then authorize less than the price.
   */
  readonly inputUnits?: number
  /** Returns the limits of what the price covers, such as the model and its tokens. The 402 response contains them. */
  readonly covers?: () => Json | undefined
  readonly deliver: (job: Job) => Promise<Outcome>
}

/** One attempt to deliver an order. */
export interface Job extends SentParts {
  /** Aborted at the deadline of the attempt. The source of a stream must stop when the signal is aborted. */
  readonly signal: AbortSignal
  readonly requestId: string
  /** Address of the buyer's wallet. */
  readonly payer: string
  /** Reference of the payment. All attempts for a payment have the same reference. */
  readonly payment: string
  /** Present if the order is paid by use: the price by use, and the maximum cost of the order. */
  readonly metered?: MeteredJob
  /** The price that was paid. Products that sell a balance need the price. */
  readonly price?: Price
}

/** Headers by name, in lower case. */
export type PassedHeaders = Readonly<Record<string, string>>

/** Price and budget of an order that is paid by use. */
export interface MeteredJob {
  readonly price: MeteredPrice
  /** Maximum cost of the order. The handler must end its answer before the cost exceeds the budget. */
  readonly budgetMicroUsd: bigint
}

/** A request body that the service passes on without parsing. */
export interface RawBody {
  /** Content type as the caller sent it. The product accepts its media type. */
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** The body and the headers of a request that are passed on as the caller sent them. */
export interface SentParts {
  /** The body, unparsed. Present if the product takes a raw body. */
  readonly body?: RawBody
  readonly headers?: PassedHeaders
}

/** Type and digest of a raw body, by which an order identifies the body. */
export interface BodyIdentity extends Pick<RawBody, 'contentType'> {
  /** SHA-256 digest of the bytes, in hex. */
  readonly digest: string
}

export type Outcome = Value | Raw | Stream | Failure

/** A complete JSON answer, which exists before its first byte is sent. */
export interface Value {
  readonly kind: 'delivered'
  readonly data: Json
  readonly meta: Meta
  /** Used units for a price by use. Ignored for an order with a fixed price. */
  readonly usage?: Usage
  /** Facts about the deposit. Present if the order was a deposit on a tab. */
  readonly deposit?: LimitedDeposit
}

export type LimitedDeposit = TabDeposit & { readonly limits: DepositLimits }

/**
 * A complete answer of any content type, sent without an envelope. The answer is recorded before it is sent, and the
 * receipt is in a header.
 */
export interface Raw {
  readonly kind: 'raw'
  readonly contentType: string
  readonly bytes: Uint8Array
  /** Used units for a price by use, as in `Value`. */
  readonly usage?: Usage
  /** Additional headers for the caller. A header that the service itself sets is never replaced. */
  readonly headers?: Readonly<Record<string, string>>
  readonly meta: Meta
}

/**
 * An answer that is produced while it is sent. Chunks are sent unchanged, and their digest is recorded at the end. A
 * source that breaks off must throw, because an iterator that ends normally counts as a complete answer.
 */
export interface Stream {
  readonly kind: 'stream'
  /** Content type, such as `text/event-stream`. */
  readonly contentType: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly meta: Meta
  /**
   * Returns the usage so far. Called when the stream has ended, or when the caller has left before the end. Absent: the
   * order has a fixed price.
   */
  readonly usageSoFar?: () => Usage
}

/** A failed attempt, which delivers nothing. `message` is sent to the caller. */
export interface Failure {
  readonly kind: 'failed'
  readonly code: HandlerFailure
  readonly message: string
  /**
   * True if another attempt is not worth its cost. This attempt is then the last attempt of the payment, and the
   * service owes the payment back.
   */
  readonly endsPayment?: boolean
}

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

/** Source of the data, and the time to which the data applies. */
export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}
