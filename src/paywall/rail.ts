import type { Json } from '@tollbook/core/canonicalJson'
import type { Address } from '@tollbook/core/address'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import type { MessageReference, PresentedReference } from '../payment/paymentReference.ts'
import type { Product } from '../product/product.ts'

/**
 * One way to pay, with its protocol. A rail defines how a request names its payer and carries its proof. It also
 * defines its part of the 402, what a proof proves, and the headers of the receipt. Another header or payment scheme is
 * another rail. The HTTP layer, the claim, the ledger and the receipt use only this port. A rail receives only proofs
 * that its own `read` has returned.
 */
export interface PaymentRail<P extends Proof = Proof> {
  /** For logs, metrics and errors. */
  readonly name: string
  /** Lower-case names of headers with credentials, which are never logged. */
  readonly secretHeaders: readonly string[]
  /** Lower-case names of the headers that this rail reads and writes. Pages of other origins may use both. */
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: readonly string[]
  /** Present if clients of other services can pay by this rail. The documents describe the service's own headers. */
  readonly description?: RailDescription
  /** Present if calls of tools can pay by this rail. */
  readonly meta?: RailMeta
  /** True if the request carries a proof of this rail. Admission calls this for every request, so it must be cheap. */
  carriesProof(request: RailRequest): boolean
  /** Undefined if the request has no marker of this rail. A refusal if the rail's own headers are missing or wrong. */
  identify(request: RailRequest): Caller | Refusal | undefined
  /** Returns this rail's part of the 402. Undefined if the rail cannot offer anything to this caller. */
  challenge(offer: Offer): Promise<Challenge | undefined>
  /** Returns the caller's key for this payment, if the rail has its own form. The header `Idempotency-Key` has priority. */
  idempotencyKey?(request: RailRequest): string | Refusal | undefined
  /**
   * Reads the proof, its payer and its reference, as a pure function of the proof. The rail compares the proof with
   * current values only after the ledger was searched for the payment.
   */
  read(request: OrderRequest): Presented<P> | Refusal
  /**
   * Present if the service itself signs payments of this rail. Returns the proof of an earlier payment of the same
   * payer for the same order, which is served before a new one is signed. Undefined if the service would not sign the
   * presented payment, because it then does not identify a caller.
   */
  resume?(question: PresentedPayment<P>, message: MessageReference): Promise<P | undefined>
  /** Undefined if the holder of the proof may use a payment that the ledger has already verified. */
  checkHolder(proof: P, settlement: Settlement): Refusal | undefined
  /** Verifies the payment. Throws a retryable fault while the outcome is unknown. */
  settle(question: SettleQuestion<P>): Promise<Settlement | Refusal>
  /**
   * Returns the headers of a paid answer in this rail's format. The receipt may follow much later, so they state only
   * the payment.
   */
  respond(paid: PaidOrder): Headers
  /** Explains the refusal of one of its proofs in the rail's format. Absent if the body is sufficient. */
  explain?(refusal: Refusal, refused: RefusedRequest): Promise<RefusalExplanation>
}

/** Describes the protocol of a rail. Routes and documents use the members unchanged, whatever the rail. */
export interface RailDescription {
  readonly protocol: string
  /** End of the sentence "send the same request …", which tells a client how to request the price. */
  readonly request: string
  /** A path prefix under which every product is also served. Present if the prefix itself is the rail's marker. */
  readonly mount?: string
  /** Members of an offer in the documents, before amount and currency. Absent if the protocol publishes no offers. */
  readonly offer?: Readonly<Record<string, Json>>
  /** Returns a TypeScript program that buys with a client of the protocol, for the given arguments of `fetch`. */
  readonly sample?: (fetchArguments: string) => string
}

/** `_meta` of a call or a result of MCP. Its members have the place of headers. */
export type ToolMeta = Readonly<Record<string, Json>>

/** Translates between the headers of a rail and its members of `_meta`, so that the rail reads one form of a payment. */
export interface RailMeta {
  /** Returns the headers that the rail reads: those of the payment, or the marker of a caller who wants an offer. */
  headersOf(meta: ToolMeta): Headers
  /** Returns the members of a paid result, for the headers of `respond` and the `_meta` of the call. */
  receiptOf(headers: Headers, meta: ToolMeta): ToolMeta
}

export interface ToolWords {
  /** Content of the result, if clients of the rail expect the offer there. At most one rail has it. */
  readonly content?: ToolMeta
  readonly meta?: ToolMeta
}

type Headers = Readonly<Record<string, string>>

export interface CalledTool {
  readonly name: string
  /** Path of the MCP server. */
  readonly path: string
}

export interface RailRequest {
  /** The mount in the request's path. Undefined for the product's own path. */
  readonly mount: string | undefined
  /** Present for a call of a tool, whose result has room for the offers of every protocol. */
  readonly tool?: CalledTool
  /** The value of a header. Undefined if it is absent or blank. */
  header(name: string): string | undefined
}

export interface OrderRequest extends RailRequest {
  readonly method: string
  /** Path and query as sent. Over MCP: the path. */
  readonly target: string
  /** The path of the order as sent, without its mount. Undefined: the path of the product. */
  readonly path?: string
  /** SHA-256 of the body as sent. Undefined for a request without a body. */
  bodyDigest(): Uint8Array | undefined
}

export interface Caller {
  /** Undefined if the rail reads the payer only from the proof. */
  readonly payer: Address | undefined
}

export interface Offer {
  readonly id: string
  readonly request: OrderRequest
  /**
   * Names of the protocol rails that the offer is for: the first one that the request marks, or all for a tool. Absent
   * after a refusal.
   */
  readonly markedBy?: readonly string[]
  readonly product: Product
  readonly payer: Address | undefined
  readonly price: ListedPrice
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** The 402 merges the challenges of all rails. */
export interface Challenge {
  /** Instruction to pay, as the end of the sentence "payment required: 5 TOKEN …; …". */
  readonly instruction: string
  readonly members: Readonly<Record<string, Json>>
  readonly headers: Headers
  /** The same offer for a call of a tool. Written on demand, because most offers leave by HTTP. */
  readonly toolWords?: () => ToolWords
}

export interface RefusedRequest {
  readonly request: OrderRequest
  /** Present if the caller may make a new payment. */
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
  /** Present if a tab paid: its balance. */
  readonly tabBalanceBaseUnits?: bigint
}

/** `reference` makes the payment single-use, on any rail. */
export interface Proof {
  readonly reference: PresentedReference
}

/** Not verified yet. */
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
  /** State in the ledger: `unknown`, or `submitted` if this service has sent the payment before. */
  readonly payment: PaymentState
  /**
   * Called with the state after a step that the rail itself has recorded. The claim then uses this state without a
   * lookup.
   */
  readonly onRecorded: (payment: PaymentState) => void
}
