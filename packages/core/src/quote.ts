import type { Address } from './address.ts'

/** The price of a request and its division at one moment. All amounts are base units of `mint`. */
export interface Price {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  /** One whole token in 10^-18 US dollars. */
  readonly tokenPriceAttoUsd: bigint
  readonly mint: Address
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  /** The shares in the order of the split. They add up to the required amount less the burn. */
  readonly shares: readonly Share[]
  /** Present if the price is in dollars and its sale owes a burn of the service token, which the treasury delivers. */
  readonly tokenBurn?: TokenBurn
}

export interface TokenBurn {
  readonly mint: Address
  readonly baseUnits: bigint
}

export interface Share {
  readonly account: string
  readonly baseUnits: bigint
}

/** A price from a recorded list; the amounts of a quote are those of its list. */
export interface ListedPrice extends Price {
  readonly priceList: number
}

/** The offer of a 402: a price for one wallet, with an expiry. The ledger stores the memo, never the secret behind it. */
export interface Quote extends ListedPrice {
  readonly id: string
  readonly wallet: Address
  /** `tollbook:` + base64url(sha256(secret)), which binds a payment to this quote. */
  readonly memo: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** A slot that the chain had reached when the quote was made. A payment of the quote cannot have landed earlier. */
  readonly slot: number
}

export const memoPrefix = 'tollbook:'

/** Amount that must arrive in the payment wallet's token account if the payer burns the rest. */
export function transferBaseUnits(price: Price): bigint {
  return price.requiredBaseUnits - price.burnBaseUnits
}

/** The price without the list or the quote that it came from, for a settlement. */
export function plainPrice(price: Price): Price {
  const { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals } = price
  const { requiredBaseUnits, burnBaseUnits, shares, tokenBurn } = price
  const plain = { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
  return tokenBurn === undefined ? plain : { ...plain, tokenBurn }
}
