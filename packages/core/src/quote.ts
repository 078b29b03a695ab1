import type { Address } from './address.ts'

/** What a request costs and how it is divided, in force at one moment. All amounts are base units of `mint`. */
export interface Price {
  readonly endpoint: string
  readonly priceMicroUsd: bigint
  /** One whole token in 10^-18 US dollars. */
  readonly tokenPriceAttoUsd: bigint
  readonly mint: Address
  readonly decimals: number
  readonly requiredBaseUnits: bigint
  readonly burnBaseUnits: bigint
  readonly providerBaseUnits: bigint
  readonly holdersBaseUnits: bigint
  readonly treasuryBaseUnits: bigint
}

/** A priced offer to one wallet that expires: the 402. The ledger has the memo, never the secret behind it. */
export interface Quote extends Price {
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

/** What has to arrive in the payment wallet's token account: everything that is not burned. */
export function transferBaseUnits(price: Price): bigint {
  return price.requiredBaseUnits - price.burnBaseUnits
}
