import type { Address } from '@tollbook/core/address'

/** Protocols of services that are not Tollbook: x402 version 2 (`exact` on Solana), and MPP (`solana/charge`, pull). */
export const sponsoredProtocols = ['x402', 'mpp'] as const
export type SponsoredProtocol = (typeof sponsoredProtocols)[number]

/** One transfer of the whole price, which the payer signs and the service co-signs and sends, as its fee payer. */
export interface SponsoredOffer {
  readonly protocol: SponsoredProtocol
  /** CAIP-2. Undefined for a chain without a public name. */
  readonly network: string | undefined
  readonly mint: Address
  readonly payTo: Address
  readonly feePayer: Address
  readonly amountBaseUnits: bigint
  /** Undefined when the transaction must not have one. */
  readonly memo: string | undefined
  readonly lifetimeMs: number
  /** The value of the header that carries the payment. */
  encode(transaction: Uint8Array): string
}

export interface OfferQuestion {
  readonly headers: Headers
  readonly protocols: readonly SponsoredProtocol[]
  /** Preferred among several offers. */
  readonly mint: string | undefined
  readonly answeredAtMs: number
}

/** Header that carries the payment, and header of the answer that says that it was settled. */
export const protocolHeaders: Readonly<
  Record<SponsoredProtocol, { readonly payment: string; readonly settled: string }>
> = {
  x402: { payment: 'payment-signature', settled: 'payment-response' },
  mpp: { payment: 'authorization', settled: 'payment-receipt' },
}
