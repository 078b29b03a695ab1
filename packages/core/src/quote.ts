import type { Address } from './address.ts'

/** Price of a request and its division at one moment. All amounts are base units of `mint`. */
export interface Price {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  /** Price of one whole token in 10^-18 US dollars. */
  readonly tokenPriceAttoUsd: bigint
  readonly mint: Address
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  /** Shares in the order of the split. Their sum is the required amount less the burn. */
  readonly shares: readonly Share[]
  /** Burn of the service token that a sale in dollars owes. The treasury delivers it. Absent: no such burn. */
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

/** A price from a recorded price list. The amounts of a quote are the amounts of its list. */
export interface ListedPrice extends Price {
  readonly priceList: number
}

/** The offer of a 402: a price for one wallet, with an expiry. The ledger stores the memo, never its secret. */
export interface Quote extends ListedPrice {
  readonly id: string
  readonly wallet: Address
  /** `tollbook:` + base64url(sha256(secret)), which binds a payment to this quote. */
  readonly memo: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** Slot that the chain had reached when the quote was made. A payment of the quote cannot have landed earlier. */
  readonly slot: number
}

export const memoPrefix = 'tollbook:'

/** Returns the amount that must arrive in the payment wallet's token account, apart from the burn. */
export function transferBaseUnits(price: Price): bigint {
  return price.requiredBaseUnits - price.burnBaseUnits
}

/** Returns the price without the fields of a price list or a quote, for a settlement. */
export function plainPrice(price: Price): Price {
  const { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals } = price
  const { requiredBaseUnits, burnBaseUnits, shares, tokenBurn } = price
  const plain = { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
  return tokenBurn === undefined ? plain : { ...plain, tokenBurn }
}
