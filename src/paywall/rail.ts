import type { Json } from '@tollbook/core/canonicalJson'
import type { Address } from '@tollbook/core/address'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import type { MessageReference, PresentedReference } from '../payment/paymentReference.ts'
import type { Product } from '../product/product.ts'

/**
 * A way to pay, with its protocol. A rail defines how a request states its payer and its proof. It also defines its
 * part of the 402, what a proof proves, and the headers of the receipt. A further header or payment scheme is a
 * separate rail. The HTTP layer, the claim, the ledger and the receipt use only this interface. A rail receives only
 * proofs that its own `read` has returned.
 */
export interface PaymentRail<P extends Proof = Proof> {
  /** Name of the rail in logs, metrics and errors. */
  readonly name: string
  /** Lower-case names of headers with credentials, which are never logged. */
  readonly secretHeaders: readonly string[]
  /**
   * Lower-case names of the headers that this rail reads. CORS allows pages of other origins to send these headers, and
   * to read the headers of the next field.
   */
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: readonly string[]
  /**
   * Present if standard clients of another protocol can pay by this rail. Absent for the service's own headers, which
   * the documents describe separately.
   */
  readonly description?: RailDescription
  /** Present if callers of MCP tools can pay by this rail. */
  readonly meta?: RailMeta
  /**
   * True if the request contains a proof of this rail. Admission calls this for every request, so the check must be
   * fast.
   */
  carriesProof(request: RailRequest): boolean
  /**
   * Returns the caller if the request has a marker of this rail. Undefined without a marker. A refusal if headers of
   * this rail are missing or wrong.
   */
  identify(request: RailRequest): Caller | Refusal | undefined
  /** Returns this rail's part of the 402. Undefined if the rail cannot offer anything to this caller. */
  challenge(offer: Offer): Promise<Challenge | undefined>
  /**
   * Returns the idempotency key of this payment, if the protocol has a separate form for the key. The header
   * `Idempotency-Key` has priority.
   */
  idempotencyKey?(request: RailRequest): string | Refusal | undefined
  /**
   * Reads the proof, its payer and its reference. The result depends on the request alone. Only after the lookup in the
   * ledger does the rail compare the proof with current values.
   */
  read(request: OrderRequest): Presented<P> | Refusal
  /**
   * Returns the proof of an earlier payment of the same payer for the same order. The service resumes this payment
   * before it signs a new one. Undefined if the service would not sign the presented payment, because such a payment
   * does not prove who the caller is. Absent if the service does not sign payments of this rail.
   */
  resume?(question: PresentedPayment<P>, message: MessageReference): Promise<P | undefined>
  /**
   * Refuses a caller who may not use a payment that the ledger has already verified. Undefined if the holder of the
   * proof may use the payment.
   */
  checkHolder(proof: P, settlement: Settlement): Refusal | undefined
  /** Verifies the payment. Throws a retryable fault if the outcome is unknown. */
  settle(question: SettleQuestion<P>): Promise<Settled>
  /**
   * Returns the headers of a paid answer in this rail's format. The headers state only the payment, because the receipt
   * of a stream follows much later.
   */
  respond(paid: PaidOrder): Headers
  /** Explains the refusal of a proof of this rail in the rail's format. Absent if the usual response body is sufficient. */
  explain?(refusal: Refusal, refused: RefusedRequest): Promise<RefusalExplanation>
}

/** Describes the protocol of a rail. Routes and documents use these members in the same way for every rail. */
export interface RailDescription {
  readonly protocol: string
  /** End of the sentence "send the same request …". The sentence explains how a client requests the price. */
  readonly request: string
  /** A path prefix under which every product is also served. Present if the prefix marks a request for this rail. */
  readonly mount?: string
  /** Members of an offer in the documents, before amount and currency. Absent if the protocol publishes no offers. */
  readonly offer?: Readonly<Record<string, Json>>
  /**
   * Returns a TypeScript program that buys with a client of the protocol. The program passes the given arguments to
   * `fetch`.
   */
  readonly sample?: (fetchArguments: string) => string
}

/** The `_meta` member of an MCP call or result. Its members replace HTTP headers. */
export type ToolMeta = Readonly<Record<string, Json>>

/** Translates between the headers of a rail and the members of `_meta`, so that the rail has to read only headers. */
export interface RailMeta {
  /** Returns the headers for this `_meta`: the headers of a payment, or the marker of a caller who requests an offer. */
  headersOf(meta: ToolMeta): Headers
  /** Returns the `_meta` members of a paid result, from the headers of `respond` and the `_meta` of the call. */
  receiptOf(headers: Headers, meta: ToolMeta): ToolMeta
}

export interface ToolWords {
  /** Content of the result, if clients of the rail expect the offer there. At most one rail returns content. */
  readonly content?: ToolMeta
  readonly meta?: ToolMeta
}

type Headers = Readonly<Record<string, string>>

export interface CalledTool {
  readonly name: string
  /** Path of the MCP server that has the tool. */
  readonly path: string
}

export interface RailRequest {
  /** Prefix of the path that belongs to one rail. Undefined for the product's own path. */
  readonly mount: string | undefined
  /** Present for an MCP tool call. A tool result is large enough for the offers of every protocol. */
  readonly tool?: CalledTool
  /** Returns the value of a header. Undefined if the header is absent or blank. */
  header(name: string): string | undefined
}

export interface OrderRequest extends RailRequest {
  readonly method: string
  /** Path and query as sent. For an MCP call: the path. */
  readonly target: string
  /** The path of the order as sent, without its mount. Undefined: the path of the product. */
  readonly path?: string
  /** SHA-256 of the body as sent. Undefined for a request without a body. */
  bodyDigest(): Uint8Array | undefined
}

export interface Caller {
  /** Wallet of the payer. Undefined if the rail reads the payer only from the proof. */
  readonly payer: Address | undefined
}

export interface Offer {
  readonly id: string
  readonly request: OrderRequest
  /**
   * Protocol rails that the offer is for: the first rail that the request marks, or every marked rail for a tool call.
   * Absent for the offer after a refusal.
   */
  readonly markedBy?: readonly string[]
  readonly product: Product
  readonly payer: Address | undefined
  readonly price: ListedPrice
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** A rail's part of the 402. The 402 merges the challenges of all rails. */
export interface Challenge {
  /** Instruction to pay, as the end of the sentence "payment required: 5 TOKEN …; …". */
  readonly instruction: string
  readonly members: Readonly<Record<string, Json>>
  readonly headers: Headers
  /** Returns the same offer for a tool call. The offer is written on demand, because most offers are sent by HTTP. */
  readonly toolWords?: () => ToolWords
}

export interface RefusedRequest {
  readonly request: OrderRequest
  /** A new offer. Undefined if the caller must not make a new payment. */
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
  /** Balance of the tab in base units. Present if a tab paid. */
  readonly tabBalanceBaseUnits?: bigint
}

/** Proof of a payment. The reference makes the payment single-use, on any rail. */
export interface Proof {
  readonly reference: PresentedReference
}

/** A proof with the payer that it states. The proof is not verified yet. */
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
  /** State of the payment in the ledger: `unknown`, or `submitted` if this service has sent the payment before. */
  readonly payment: PaymentState
}

/** The verdict on a payment, and its state after the steps that the rail has recorded. A refused payment has both too. */
export interface Settled {
  readonly verdict: Settlement | Refusal
  readonly payment: PaymentState
}
