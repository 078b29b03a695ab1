import { divideRoundingUp } from '@tollbook/core/money'
import { usdDecimals } from './priceList.ts'
import type { SplitShare } from './splitSetting.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from './tokenPrice.ts'

/** Lamports for two signatures and the priority fee of standard clients of x402 and MPP. */
export const paymentLamports = 10_001n
const lamportsPerSol = 10n ** 9n

export function paymentFeeMicroUsd(solAttoUsd: TokenPriceAttoUsd): bigint {
  return divideRoundingUp(
    paymentLamports * solAttoUsd,
    lamportsPerSol * 10n ** BigInt(tokenPriceDecimals - usdDecimals),
  )
}

/** Undefined if the split has no share for the account, which must cover the network fee. */
export function smallestPriceMicroUsd(
  feeMicroUsd: bigint,
  split: readonly SplitShare[],
  account: string,
): bigint | undefined {
  const perMille = split.find((share) => share.account === account)?.perMille ?? 0
  return perMille === 0 ? undefined : divideRoundingUp(feeMicroUsd * 1_000n, BigInt(perMille))
}
