import type { Address } from '@tollbook/core/address'

/** Payment protocols besides Tollbook's own: x402 version 2 (`exact` on Solana) and MPP (`solana/charge`, pull). */
export const sponsoredProtocols = ['x402', 'mpp'] as const
export type SponsoredProtocol = (typeof sponsoredProtocols)[number]

/** The payer signs one transfer of the whole price. The service co-signs it as fee payer and sends it. */
export interface SponsoredOffer {
  readonly protocol: SponsoredProtocol
  /** Network in CAIP-2 form. Undefined for a chain without a public name. */
  readonly network: string | undefined
  readonly mint: Address
  readonly payTo: Address
  readonly feePayer: Address
  readonly amountBaseUnits: bigint
  /** The transaction must have this memo. Undefined: no memo. */
  readonly memo: string | undefined
  readonly lifetimeMs: number
  /** Present if the payment is sent in `_meta` of a tool call. Absent: it is sent in a header. */
  readonly inMeta?: true
  /** Returns the value of the header that carries the payment, or the members of `_meta` as JSON. */
  encode(transaction: Uint8Array): string
}

export interface ToolOffers {
  readonly x402?: unknown
  /** True if the offer was in `_meta`, as Cloudflare's servers send it. Such a server reads the payment as base64 text. */
  readonly isX402Text?: boolean
  readonly challenges?: readonly unknown[]
}

export interface OfferQuestion {
  readonly headers: Headers
  /** Offers of a tool call. If present, they are used instead of the headers. */
  readonly tool?: ToolOffers | undefined
  readonly protocols: readonly SponsoredProtocol[]
  /** Offers in this mint are preferred. */
  readonly mint: string | undefined
  /** Mints that count as dollars. Preferred if no offer is in `mint`. */
  readonly dollarMints?: readonly string[]
  readonly answeredAtMs: number
}

/** Per protocol, the request header with the payment, and the response header that confirms its settlement. */
export const protocolHeaders: Readonly<
  Record<SponsoredProtocol, { readonly payment: string; readonly settled: string }>
> = {
  x402: { payment: 'payment-signature', settled: 'payment-response' },
  mpp: { payment: 'authorization', settled: 'payment-receipt' },
}

export function preferred(
  offers: readonly SponsoredOffer[],
  { mint, dollarMints = [] }: Pick<OfferQuestion, 'mint' | 'dollarMints'>,
): SponsoredOffer | undefined {
  return (
    offers.find((offer) => offer.mint === mint) ?? offers.find((offer) => dollarMints.includes(offer.mint)) ?? offers[0]
  )
}
