import type { Json } from '@tollbook/core/canonicalJson'
import type { Address } from '@tollbook/core/address'
import type { Order, PaymentState } from '../payment/payment.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import type { Refusal } from '@tollbook/core/refusal'
import type { Settlement } from '../payment/settlement.ts'
import type { MessageReference, PresentedReference } from '../payment/paymentReference.ts'
import type { Product } from '../product/product.ts'

/**
 * One way to pay, with its whole conversation: how a request names its payer and carries its proof, what the 402 says, what
 * a proof proves, and which headers go with the receipt. Another header or another payment scheme is another rail. The
 * HTTP layer, the claim, the ledger and the receipt see only what this port says. A rail is handed back only proofs that its own
 * `read` returned.
 */
export interface PaymentRail<P extends Proof = Proof> {
  /** Names the rail in logs, metrics and errors. */
  readonly name: string
  /** Lower-case names of headers whose values are credentials. They are never logged. */
  readonly secretHeaders: readonly string[]
  /** Lower-case names of the headers that this rail reads and writes. Pages of other origins may use both. */
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: readonly string[]
  /** Present when clients of other services can pay by this rail. Our own headers are described by the documents themselves. */
  readonly description?: RailDescription
  /** Whether the request carries a proof of this rail. Admission asks this of every request, so it must cost nothing. */
  carriesProof(request: RailRequest): boolean
  /** Undefined when the request has no marker of this rail; a refusal when the rail's own headers are missing or wrong. */
  identify(request: RailRequest): Caller | Refusal | undefined
  /** This rail's part of the 402. Undefined when the rail cannot offer anything to this caller. */
  challenge(offer: Offer): Promise<Challenge | undefined>
  /** The caller's key for this payment, where the rail has its own. The header `Idempotency-Key` goes first. */
  idempotencyKey?(request: RailRequest): string | Refusal | undefined
  /**
   * Reads the proof, its payer and its reference. Pure, and a function of the proof alone: the ledger is asked about
   * the payment before the rail compares it with anything that may have changed since it was offered.
   */
  read(request: OrderRequest): Presented<P> | Refusal
  /**
   * Present when the service signs payments of this rail itself. The proof of an earlier payment of the same payer for
   * the same order, which is served before another one is signed. Undefined when the service would not sign the payment
   * that was presented: it does not identify a caller then.
   */
  resume?(question: PresentedPayment<P>, message: MessageReference): Promise<P | undefined>
  /** Undefined when the holder of the proof may use a payment that the ledger has already verified. */
  checkHolder(proof: P, settlement: Settlement): Refusal | undefined
  /** Verifies the payment. Throws a retryable fault while the outcome is unknown. */
  settle(question: SettleQuestion<P>): Promise<Settlement | Refusal>
  /**
   * Headers that go in front of a paid answer, in this rail's words. The receipt may follow much later, so they state
   * the payment alone.
   */
  respond(paid: PaidOrder): Headers
  /** The rail's words about the refusal of one of its proofs. Absent: the body says everything. */
  explain?(refusal: Refusal, refused: RefusedRequest): Promise<RefusalExplanation>
}

/** The protocol of a rail in its own words. Routes and documents use them as they are, and never ask which rail it is. */
export interface RailDescription {
  /** The protocol as its clients name it. */
  readonly protocol: string
  /** End of the sentence "send the same request …", which tells a client how to ask for the price. */
  readonly request: string
  /** A path prefix under which every product is also served. Present when the prefix itself is the rail's marker. */
  readonly mount?: string
  /** Members of an offer in the documents, before amount and currency. Absent when the protocol publishes no offers. */
  readonly offer?: Readonly<Record<string, Json>>
  /** A TypeScript program that buys with a client of the protocol, given the arguments of its `fetch`. */
  readonly sample?: (fetchArguments: string) => string
}

type Headers = Readonly<Record<string, string>>

/** A request as a rail sees it. */
export interface RailRequest {
  /** The mount that the request came in by; undefined for the product's own path. */
  readonly mount: string | undefined
  /** The value of a header, undefined when it is absent or blank. */
  header(name: string): string | undefined
}

/** A request whose parameters have been read. */
export interface OrderRequest extends RailRequest {
  /** SHA-256 of the body as it was sent. Undefined for a request without a body. */
  bodyDigest(): Uint8Array | undefined
}

/** The sender of a request, before a proof is read. */
export interface Caller {
  /** Undefined when the rail learns the payer from the proof alone. */
  readonly payer: Address | undefined
}

/** The paywall's part of a 402: what is sold, to whom, at which price, until when. */
export interface Offer {
  readonly id: string
  readonly request: OrderRequest
  readonly product: Product
  readonly payer: Address | undefined
  readonly price: ListedPrice
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** A rail's part of a 402. The answer is the merge of all rails' challenges. */
export interface Challenge {
  /** How to pay, as the end of the sentence "payment required: 5 TOKEN …; …". */
  readonly instruction: string
  readonly members: Readonly<Record<string, Json>>
  readonly headers: Headers
}

/** A request whose proof was refused. */
export interface RefusedRequest {
  readonly request: OrderRequest
  /** Present when the caller may make a new payment. */
  readonly offer: Offer | undefined
}

/** A rail's words about a refusal, added to headers and body. */
export interface RefusalExplanation {
  readonly headers: Headers
  readonly members?: Challenge['members']
}

/** A settled payment, and the endpoint that it buys. */
export interface PaidOrder {
  readonly endpoint: string
  readonly settlement: Settlement
}

/** The least that every proof has: the key that makes its payment single-use, whichever rail brought it. */
export interface Proof {
  readonly reference: PresentedReference
}

/** A proof with the wallet that its rail names as payer. It is not verified yet. */
export interface Presented<P extends Proof = Proof> {
  readonly payer: Address
  readonly proof: P
}

/** A proof that the ledger does not have, and the order that it should buy. */
export interface PresentedPayment<P extends Proof = Proof> {
  readonly proof: P
  readonly order: Order
}

/** A proof to verify for an order, and what the ledger knows about it. */
export interface SettleQuestion<P extends Proof = Proof> {
  readonly proof: P
  readonly order: Order
  /** State in the ledger: `unknown`, or `submitted` when this service has sent the payment before. */
  readonly payment: PaymentState
  /** Called with the state after a step that the rail has recorded itself. The claim is decided on it, without a lookup. */
  readonly onRecorded: (payment: PaymentState) => void
}
