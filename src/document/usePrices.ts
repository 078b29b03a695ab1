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

/**
 * Removes the unit of the metered prices if no tabs are sold, because only tabs pay these prices. A price without a
 * unit is not shown.
 */
export function withTabPrices(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const sellsTabs = endpoints.some(({ isDeposit }) => isDeposit === true)
  return sellsTabs ? endpoints : endpoints.map(({ usedUnit: _unpaid, ...endpoint }) => endpoint)
}

/**
 * Returns the metered price in US dollars per unit, with the minimum and the amount that a tab holds. Empty if the
 * price is fixed, or if the product has no unit.
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
      // Millionths of a dollar per million rows are dollars per row with 12 decimals.
      return { perRowUSD: displayNumber(outputPerMillionMicroUsd, 2 * usdDecimals) }
    default:
      return assertNever(unit)
  }
}

const usd = (microUsd: bigint) => displayNumber(microUsd, usdDecimals)

/**
 * Returns the metered prices of the product and its models, as an extension of the OpenAPI document. Empty if no
 * metered price is shown.
 */
export function useExtension({ usedUnit, variants = [], ...standard }: UsedEndpoint): Readonly<Record<string, Json>> {
  const own = useMember(standard, usedUnit).byUse
  const others = variants.flatMap((variant) => {
    const { byUse } = useMember(variant, usedUnit)
    return byUse === undefined ? [] : [[variant.name, byUse] as const]
  })
  if (own === undefined && others.length === 0) return {}
  return { 'x-price-by-use': { ...own, ...(others.length === 0 ? {} : { models: Object.fromEntries(others) }) } }
}

/** Describes the metered prices, as the end of a sentence. Empty if no metered price is shown. */
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
