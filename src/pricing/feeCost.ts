import { divideRoundingUp } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'
import type { SplitShare } from './splitSetting.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

/** Network fee of one payment by x402 or MPP, in lamports: two signatures, and the priority fee of standard clients. */
export const paymentLamports = 10_001n
const lamportsPerSol = 10n ** 9n

/** Returns the network fee of one payment in millionths of a US dollar, rounded up. */
export function paymentFeeMicroUsd(solAttoUsd: TokenPriceAttoUsd): bigint {
  return divideRoundingUp(
    paymentLamports * solAttoUsd,
    lamportsPerSol * 10n ** BigInt(tokenPriceDecimals - usdDecimals),
  )
}

/**
 * Returns the smallest price for which the share of `account` covers the network fee. Undefined if the split has no
 * such share.
 */
export function smallestPriceMicroUsd(
  feeMicroUsd: bigint,
  split: readonly SplitShare[],
  account: string,
): bigint | undefined {
  const perMille = split.find((share) => share.account === account)?.perMille ?? 0
  return perMille === 0 ? undefined : divideRoundingUp(feeMicroUsd * 1_000n, BigInt(perMille))
}
