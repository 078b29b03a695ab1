import type { Address } from './address.ts'

/** The cost of a request and how it is divided, in force at one moment. All amounts are base units of `mint`. */
export interface Price {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  /** One whole token in 10^-18 US dollars. */
  readonly tokenPriceAttoUsd: bigint
  readonly mint: Address
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  /** Everything that is not burned, in the order of the split: the sum is required minus burn. */
  readonly shares: readonly Share[]
}

/** One account's part of an amount. */
export interface Share {
  readonly account: string
  readonly baseUnits: bigint
}

/** A price from a recorded list; the amounts of a quote are those of its list. */
export interface ListedPrice extends Price {
  /** Number of the price list. */
  readonly priceList: number
}

/** A priced offer to one wallet that expires: the 402. The ledger has the memo, never the secret behind it. */
export interface Quote extends ListedPrice {
  readonly id: string
  readonly wallet: Address
  /** `tollbook:` + base64url(sha256(secret)): what binds a payment to this quote alone. */
  readonly memo: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** A slot the chain had reached when the quote was made; a payment for it cannot have landed earlier. */
  readonly slot: number
}

export const memoPrefix = 'tollbook:'

/** Amount that has to arrive in the payment wallet's token account when the payer burns the rest. */
export function transferBaseUnits(price: Price): bigint {
  return price.requiredBaseUnits - price.burnBaseUnits
}

/** The price alone, for a settlement: without the list or quote that it came from. */
export function plainPrice(price: Price): Price {
  const { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals } = price
  const { requiredBaseUnits, burnBaseUnits, shares } = price
  return { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
}
