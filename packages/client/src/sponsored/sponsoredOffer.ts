import type { Address } from '@tollbook/core/address'

/** Protocols of other services: x402 version 2 (`exact` on Solana), and MPP (`solana/charge`, pull). */
export const sponsoredProtocols = ['x402', 'mpp'] as const
export type SponsoredProtocol = (typeof sponsoredProtocols)[number]

/** One transfer of the whole price. The payer signs it; the service co-signs as fee payer and sends it. */
export interface SponsoredOffer {
  readonly protocol: SponsoredProtocol
  /** CAIP-2. Undefined for a chain without a public name. */
  readonly network: string | undefined
  readonly mint: Address
  readonly payTo: Address
  readonly feePayer: Address
  readonly amountBaseUnits: bigint
  /** Undefined if the transaction must have no memo. */
  readonly memo: string | undefined
  readonly lifetimeMs: number
  /** Present if the payment travels in `_meta` of a call of a tool, and not in a header. */
  readonly inMeta?: true
  /** Encodes the value of the header that carries the payment, or the members of `_meta` as JSON. */
  encode(transaction: Uint8Array): string
}

export interface ToolOffers {
  readonly x402?: unknown
  /** Cloudflare's servers state the offer in `_meta`, and read the payment as text in base64. */
  readonly isX402Text?: boolean
  readonly challenges?: readonly unknown[]
}

export interface OfferQuestion {
  readonly headers: Headers
  /** Offers of a tool, which are read instead of the headers. */
  readonly tool?: ToolOffers | undefined
  readonly protocols: readonly SponsoredProtocol[]
  /** Mint to prefer among several offers. */
  readonly mint: string | undefined
  /** Dollars to prefer after that. */
  readonly dollarMints?: readonly string[]
  readonly answeredAtMs: number
}

/** The request header that carries the payment, and the answer header that says that it was settled. */
export const protocolHeaders: Readonly<
  Record<SponsoredProtocol, { readonly payment: string; readonly settled: string }>
> = {
  x402: { payment: 'payment-signature', settled: 'payment-response' },
  mpp: { payment: 'authorization', settled: 'payment-receipt' },
}

/** In the preferred mint, or else in a dollar, or else the first. */
export function preferred(
  offers: readonly SponsoredOffer[],
  { mint, dollarMints = [] }: Pick<OfferQuestion, 'mint' | 'dollarMints'>,
): SponsoredOffer | undefined {
  return (
    offers.find((offer) => offer.mint === mint) ?? offers.find((offer) => dollarMints.includes(offer.mint)) ?? offers[0]
  )
}
