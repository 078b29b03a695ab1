import type { Address } from './address.ts'

/** All amounts are base units of `mint`. */
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
  /** A sale in dollars owes a burn of the service token, which the treasury delivers. Absent: no such burn. */
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

/** The amounts of a quote are the amounts of its recorded price list. */
export interface ListedPrice extends Price {
  readonly priceList: number
}

/** Offer of a 402 to one wallet, valid until it expires. The ledger stores the memo, never its secret. */
export interface Quote extends ListedPrice {
  readonly id: string
  readonly wallet: Address
  /** `tollbook:` + base64url(sha256(secret)), which binds a payment to this quote. */
  readonly memo: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  /** The chain had reached this slot when the quote was made. A payment of the quote cannot have landed earlier. */
  readonly slot: number
}

export const memoPrefix = 'tollbook:'

/**
 * Returns the amount that must arrive in the payment wallet's token account. A payer of a mint with a fee sends more
 * (`sentForArrival`).
 */
export function transferBaseUnits(price: Price): bigint {
  return price.requiredBaseUnits - price.burnBaseUnits
}

export function plainPrice(price: Price): Price {
  const { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals } = price
  const { requiredBaseUnits, burnBaseUnits, shares, tokenBurn } = price
  const plain = { endpoint, priceMicroUsd, tokenPriceAttoUsd, mint, decimals, requiredBaseUnits, burnBaseUnits, shares }
  return tokenBurn === undefined ? plain : { ...plain, tokenBurn }
}
