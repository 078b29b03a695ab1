import type { Json } from '@tollbook/core/canonicalJson'
import type { Price } from '@tollbook/core/quote'
import type { DepositLimits, TabDeposit } from '@tollbook/core/tab'
import type { MeteredPrice, Usage } from '../pricing/meteredPrice.ts'

/**
 * GET and DELETE take their parameters from query and path. Other methods take them from path and JSON body, or from
 * path and query if the body is raw.
 */
export type ProductMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Product {
  /** An exact path such as `/items`, or a pattern such as `/items/{id}`. It is also the name of the price. */
  readonly path: string
  readonly method: ProductMethod
}

export interface CheckedOrder {
  readonly endpoint: string
  /** A payment under this name still buys the order, even if the operator has removed the variant's price since. */
  readonly formerEndpoint?: string
  readonly parameters: Json
  /** The raw body is part of the order. Absent if the product takes none. */
  readonly body?: BodyIdentity
  /** The headers are part of the order. Absent if the product passes none on, or the caller sent none. */
  readonly headers?: PassedHeaders
  /** Called before every quote. The reason is in words for the caller. */
  readonly whyUnavailable: (payer?: string) => string | undefined
  /** Called instead of `whyUnavailable` for a request with a proof: a product can deliver what it no longer quotes. */
  readonly whyUndeliverable: (payer?: string) => string | undefined
  /** Sends no request to a provider. Undefined: the answer may exist. */
  readonly whyNoData: () => string | undefined
  /** Present if the answer can end when a budget is used up. The caller may then authorize less than the price. */
  readonly inputUnits?: number
  readonly covers?: () => Json | undefined
  readonly deliver: (job: Job) => Promise<Outcome>
}

export interface Job extends SentParts {
  readonly signal: AbortSignal
  readonly requestId: string
  readonly payer: string
  /** All attempts for a payment have the same reference. */
  readonly payment: string
  readonly metered?: MeteredJob
  /** Products that sell a balance need the price that was paid. */
  readonly price?: Price
}

export type PassedHeaders = Readonly<Record<string, string>>

export interface MeteredJob {
  readonly price: MeteredPrice
  /** The handler must end its answer before the cost exceeds the budget. */
  readonly budgetMicroUsd: bigint
}

export interface RawBody {
  readonly contentType: string
  readonly bytes: Uint8Array
}

export interface SentParts {
  readonly body?: RawBody
  readonly headers?: PassedHeaders
}

export interface BodyIdentity extends Pick<RawBody, 'contentType'> {
  readonly digest: string
}

export type Outcome = Value | Raw | Stream | Failure

export interface Value {
  readonly kind: 'delivered'
  readonly data: Json
  readonly meta: Meta
  readonly usage?: Usage
  readonly deposit?: LimitedDeposit
}

export type LimitedDeposit = TabDeposit & { readonly limits: DepositLimits }

/** Sent without an envelope. The answer is recorded before it is sent, and the receipt is in a header. */
export interface Raw {
  readonly kind: 'raw'
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly usage?: Usage
  /** A header that the service itself sets is never replaced. */
  readonly headers?: Readonly<Record<string, string>>
  readonly meta: Meta
}

/**
 * Chunks are sent unchanged, and their digest is recorded at the end. A source that breaks off must throw, because an
 * iterator that ends normally counts as a complete answer.
 */
export interface Stream {
  readonly kind: 'stream'
  readonly contentType: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly meta: Meta
  /** Called when the stream has ended, or when the caller has left before the end. Absent: a fixed price. */
  readonly usageSoFar?: () => Usage
}

export interface Failure {
  readonly kind: 'failed'
  readonly code: HandlerFailure
  readonly message: string
  /** True if another attempt is not worth its cost. The service then owes the payment back. */
  readonly endsPayment?: boolean
}

export type HandlerFailure = 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT' | 'TARGET_FORBIDDEN'

export interface Meta {
  readonly source: string
  readonly asOf: string
  readonly cached: boolean
  readonly [detail: string]: Json
}
