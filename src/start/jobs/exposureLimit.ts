import { divideRoundingUp } from '@tollbook/core/money'
import type { Dollar } from '../../payment/dollar.ts'
import type { PaymentLifecycle } from '../../payment/paymentLifecycle.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { usdDecimals } from '../../pricing/priceList.ts'
import { requiredBaseUnits, type TokenPriceAttoUsd } from '../../pricing/tokenPrice.ts'

export interface ExposureDeps {
  readonly lifecycle: Pick<PaymentLifecycle, 'exposureBaseUnits'>
  readonly terms: Pick<PaymentTerms, 'mint' | 'decimals'>
  readonly dollars: readonly Pick<Dollar, 'terms'>[]
  readonly tokenPriceAttoUsd: () => TokenPriceAttoUsd | undefined
}

/**
 * Creates a function that limits the possible loss by a fork of the chain. It counts answers delivered for payments
 * that are not final, in all mints together. Dollars count as the tokens that they would buy, and as nothing before a
 * token price is known. A `maxTokens` of 0 means no limit.
 */
export function exposureLimit(maxTokens: number, deps: ExposureDeps): () => Promise<string | undefined> {
  const { lifecycle, terms, dollars } = deps
  const maxBaseUnits = BigInt(maxTokens) * 10n ** BigInt(terms.decimals)
  let tokenPriceAttoUsd = deps.tokenPriceAttoUsd()
  const inTokens = async (dollar: Pick<Dollar, 'terms'>): Promise<bigint> => {
    const exposedBaseUnits = await lifecycle.exposureBaseUnits(dollar.terms.mint)
    if (exposedBaseUnits === 0n || tokenPriceAttoUsd === undefined) return 0n
    const scale = 10n ** BigInt(dollar.terms.decimals)
    // Round up, so that the exposure in tokens is never too low.
    const priceMicroUsd = divideRoundingUp(exposedBaseUnits * 10n ** BigInt(usdDecimals), scale)
    return requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals: terms.decimals })
  }
  return async () => {
    if (maxBaseUnits === 0n) return undefined
    // Use the last known price while the markets do not answer.
    tokenPriceAttoUsd = deps.tokenPriceAttoUsd() ?? tokenPriceAttoUsd
    const ofDollars = await Promise.all(dollars.map(inTokens))
    const exposedBaseUnits = ofDollars.reduce((sum, each) => sum + each, await lifecycle.exposureBaseUnits(terms.mint))
    return exposedBaseUnits < maxBaseUnits ? undefined : overexposed
  }
}

const overexposed =
  'the chain has yet to make the payments of the last seconds final; repeat in a moment, with the same proof if you sent one'
