import { assertNever } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import { displayNumber } from '@tollbook/core/money'
import type { MeteredPrice } from '../pricing/meteredPrice.ts'
import { displayUsd, type PricedVariant, usdDecimals } from '../pricing/priceList.ts'
import type { Endpoint } from '../product/endpoint.ts'

type UsedEndpoint = Pick<Endpoint, 'usedUnit' | 'metered' | 'priceMicroUsd' | 'variants'>
type Priced = Pick<PricedVariant, 'metered' | 'priceMicroUsd'>
type Unit = NonNullable<Endpoint['usedUnit']>

export interface UseMember {
  readonly byUse?: Readonly<Record<string, number>>
}

/** Leaves the prices by use out where no tabs are sold, which alone pay them. */
export function withTabPrices(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const sellsTabs = endpoints.some(({ isDeposit }) => isDeposit === true)
  return sellsTabs ? endpoints : endpoints.map(({ usedUnit: _unpaid, ...endpoint }) => endpoint)
}

/**
 * Returns the price by use that tabs pay, in US dollars by unit, with the minimum and the hold. Empty for a fixed
 * price.
 */
export function useMember({ metered, priceMicroUsd }: Priced, usedUnit: Unit | undefined): UseMember {
  if (metered === undefined || usedUnit === undefined) return {}
  const minimumUSD = usd(metered.minimumMicroUsd)
  return { byUse: { ...ratesOf(metered, usedUnit), minimumUSD, holdUSD: displayUsd({ priceMicroUsd }) } }
}

function ratesOf(
  { inputPerMillionMicroUsd, outputPerMillionMicroUsd }: MeteredPrice,
  unit: Unit,
): Record<string, number> {
  switch (unit) {
    case 'tokens':
      return {
        perMillionInputTokensUSD: usd(inputPerMillionMicroUsd),
        perMillionOutputTokensUSD: usd(outputPerMillionMicroUsd),
      }
    case 'bytes':
      return { perMillionBytesUSD: usd(outputPerMillionMicroUsd) }
    case 'rows':
      return { perRowUSD: displayNumber(outputPerMillionMicroUsd, 2 * usdDecimals) }
    default:
      return assertNever(unit)
  }
}

const usd = (microUsd: bigint) => displayNumber(microUsd, usdDecimals)

/** Returns the prices by use of a product and its variants for the OpenAPI document. Empty without any. */
export function useExtension({ usedUnit, variants = [], ...standard }: UsedEndpoint): Readonly<Record<string, Json>> {
  const own = useMember(standard, usedUnit).byUse
  const others = variants.flatMap((variant) => {
    const { byUse } = useMember(variant, usedUnit)
    return byUse === undefined ? [] : [[variant.name, byUse] as const]
  })
  if (own === undefined && others.length === 0) return {}
  return { 'x-price-by-use': { ...own, ...(others.length === 0 ? {} : { models: Object.fromEntries(others) }) } }
}

/** Describes the prices by use, as the end of a sentence. Empty without any. */
export function shownUse({ usedUnit, variants = [], ...standard }: UsedEndpoint): string {
  if (usedUnit === undefined) return ''
  const texts = [
    ...textsOf(standard, usedUnit, ''),
    ...variants.flatMap((variant) => textsOf(variant, usedUnit, ` for the model ${variant.name}`)),
  ]
  return texts.length === 0 ? '' : `; on a tab at most that, by use: ${texts.join('; ')}`
}

function textsOf({ metered }: Priced, unit: Unit, suffix: string): readonly string[] {
  if (metered === undefined) return []
  const rates = ratesOf(metered, unit)
  const shown = Object.entries(rates).map(([name, price]) => `$${price} ${unitWords[name] ?? name}`)
  return [`${shown.join(', ')}, at least $${usd(metered.minimumMicroUsd)}${suffix}`]
}

const unitWords: Readonly<Record<string, string>> = {
  perMillionInputTokensUSD: 'per million input tokens',
  perMillionOutputTokensUSD: 'per million output tokens',
  perMillionBytesUSD: 'per million bytes',
  perRowUSD: 'per row',
}
