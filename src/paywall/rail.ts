import type { Json } from '@tollbook/core/canonicalJson'
import type { Address } from '@tollbook/core/address'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import type { MessageReference, PresentedReference } from '../payment/paymentReference.ts'
import type { Product } from '../product/product.ts'

/**
 * A rail owns its protocol: how a request states payer and proof, its part of the 402, the verification and the headers
 * of the answer. It receives only proofs that its own `read` or `resume` has returned.
 */
export interface PaymentRail<P extends Proof = Proof> {
  readonly name: string
  /** Lower-case names of headers with credentials, which logs must not contain. */
  readonly secretHeaders: readonly string[]
  /** Lower-case. CORS allows pages of other origins to send these headers, and to read those of the next field. */
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: readonly string[]
  /** Absent for a rail with the service's own headers. The published documents describe these headers separately. */
  readonly description?: RailDescription
  /** Present if callers of MCP tools can pay by this rail. */
  readonly meta?: RailMeta
  /**
   * True if the request has a proof for this rail. Admission calls this method before it admits a request, so the check
   * must be fast.
   */
  carriesProof(request: RailRequest): boolean
  /**
   * Undefined if this rail needs a marker in the request and there is none. A rail without a marker returns a refusal
   * if its headers are missing or wrong.
   */
  identify(request: RailRequest): Caller | Refusal | undefined
  /** Undefined if the rail cannot offer anything to this caller. */
  challenge(offer: Offer): Promise<Challenge | undefined>
  /** Returns the idempotency key from the rail's own data. The header `Idempotency-Key` has priority. */
  idempotencyKey?(request: RailRequest): string | Refusal | undefined
  /**
   * Depends on the request alone. Values such as the wallet may have changed since the payment, so compare the proof
   * with current values only after the lookup in the ledger.
   */
  read(request: OrderRequest): Presented<P> | Refusal
  /**
   * Returns the proof of an earlier payment of the payer for the same order, which is served before the service signs a
   * new one. Undefined if the service would not sign the presented payment, because such a payment does not prove who
   * the caller is. Absent if the service does not sign payments of this rail.
   */
  resume?(question: PresentedPayment<P>, message: MessageReference): Promise<P | undefined>
  /** Called for a payment that the ledger has already verified. Undefined if the holder of the proof may use it. */
  checkHolder(proof: P, settlement: Settlement): Refusal | undefined
  /** Throws a retryable fault if the outcome is unknown, because the payer could pay again after a refusal (I8). */
  settle(question: SettleQuestion<P>): Promise<Settled>
  /** The headers state only the payment, because the receipt of a stream follows later. */
  respond(paid: PaidOrder): Headers
  /** Absent if the usual response body is sufficient. */
  explain?(refusal: Refusal, refused: RefusedRequest): Promise<RefusalExplanation>
}

export interface RailDescription {
  readonly protocol: string
  /** End of the sentence "send the same request …". The sentence explains how a client requests the price. */
  readonly request: string
  /** Every product is also served below this prefix, which marks a request for this rail. */
  readonly mount?: string
  /** Members of an offer in the documents, before amount and currency. Absent if the protocol publishes no offers. */
  readonly offer?: Readonly<Record<string, Json>>
  /**
   * Returns a TypeScript program that buys with a client of the protocol. The program passes the given arguments to
   * `fetch`.
   */
  readonly sample?: (fetchArguments: string) => string
}

/** `_meta` of an MCP call or result, whose members replace HTTP headers. */
export type ToolMeta = Readonly<Record<string, Json>>

/** Translates between headers and `_meta`, so that the rail has to read only headers. */
export interface RailMeta {
  headersOf(meta: ToolMeta): Headers
  receiptOf(headers: Headers, meta: ToolMeta): ToolMeta
}

export interface ToolWords {
  /** Present if clients of the rail expect the offer in the content. At most one rail returns content. */
  readonly content?: ToolMeta
  readonly meta?: ToolMeta
}

type Headers = Readonly<Record<string, string>>

export interface CalledTool {
  readonly name: string
  readonly path: string
}

export interface RailRequest {
  /** Prefix that marks a request for one rail. Undefined for the product's own path. */
  readonly mount: string | undefined
  readonly tool?: CalledTool
  /** Undefined if the header is absent or blank. */
  header(name: string): string | undefined
}

export interface OrderRequest extends RailRequest {
  readonly method: string
  /** Path and query as sent. For an MCP call: the path. */
  readonly target: string
  /** The path of the order as sent, without its mount. Undefined: the path of the product. */
  readonly path?: string
  /** Returns the SHA-256 of the body as sent. Undefined for a request without a body. */
  bodyDigest(): Uint8Array | undefined
}

export interface Caller {
  /** Undefined if the rail reads the payer only from the proof. */
  readonly payer: Address | undefined
}

export interface Offer {
  readonly id: string
  readonly request: OrderRequest
  /** The first rail that the request marks, or every marked rail for a tool call. Absent for the offer after a refusal. */
  readonly markedBy?: readonly string[]
  readonly product: Product
  readonly payer: Address | undefined
  readonly price: ListedPrice
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

export interface Challenge {
  /** Instruction to pay, as the end of the sentence "payment required: 5 TOKEN …; …". */
  readonly instruction: string
  readonly members: Readonly<Record<string, Json>>
  readonly headers: Headers
  /** Written on demand, because most offers are sent by HTTP. */
  readonly toolWords?: () => ToolWords
}

export interface RefusedRequest {
  readonly request: OrderRequest
  /** Undefined if the caller must not pay again, or no price is in force. */
  readonly offer: Offer | undefined
}

export interface RefusalExplanation {
  readonly headers: Headers
  readonly members?: Challenge['members']
  readonly toolWords?: Challenge['toolWords']
}

export interface PaidOrder {
  readonly endpoint: string
  readonly settlement: Settlement
  readonly tabBalanceBaseUnits?: bigint
}

/** The reference makes the payment single-use, on any rail. */
export interface Proof {
  readonly reference: PresentedReference
}

/** The proof is not verified yet. */
export interface Presented<P extends Proof = Proof> {
  readonly payer: Address
  readonly proof: P
}

export interface PresentedPayment<P extends Proof = Proof> {
  readonly proof: P
  readonly order: Order
}

export interface SettleQuestion<P extends Proof = Proof> {
  readonly proof: P
  readonly order: Order
  /** `unknown`, or `submitted` if the ledger has the payment as sent by this service. */
  readonly payment: PaymentState
}

/** `payment` is the state after the steps that the rail has recorded, also for a refusal. */
export interface Settled {
  readonly verdict: Settlement | Refusal
  readonly payment: PaymentState
}
