import { z } from 'zod'
import { usd } from '../body.ts'
import type { AuditedPrice } from '../price.ts'
import type { PublishedPrices } from '../publishedPrices.ts'
import { type DividedPrice, findShareProblem, smallestShared, split } from '../split.ts'

/* The charge of a debit that is paid by use, computed from docs/ledger.md. */

const million = 1_000_000n

const meteredText = z.object({
  input: usd,
  output: usd,
  minimum: usd,
  tokenPriceAttoUsd: usd,
  decimals: z.int(),
  split,
})

/** Returns the price by use of an endpoint as text, for the row of a debit. Null if its price is fixed. */
export function meteredTextOf(prices: PublishedPrices, number: number, price: AuditedPrice): string | null {
  const { tokenPriceAttoUsd, decimals } = price
  const metered = prices.meteredOf(number, price)
  if (metered === undefined) return null
  const { inputPerMillionMicroUsd: input, outputPerMillionMicroUsd: output, minimumMicroUsd: minimum, split } = metered
  const amounts = { input, output, minimum, tokenPriceAttoUsd }
  const texts = Object.entries(amounts).map(([name, value]) => [name, value.toString()])
  return JSON.stringify({ ...Object.fromEntries(texts), decimals, split })
}

/** Returns how a charge by use differs from the split of its price list. */
export function findChargeProblem(text: string, charge: DividedPrice): string | undefined {
  return findShareProblem(charge, meteredText.parse(JSON.parse(text)).split)
}

export interface Used {
  readonly input: number
  readonly output: number
}

/**
 * The charge in base units: units at their price per million, rounded up to micro dollars, at least the minimum,
 * rounded up to base units.
 */
export function chargeOfUse(text: string, used: Used): bigint {
  const { input, output, minimum, tokenPriceAttoUsd, decimals, split } = meteredText.parse(JSON.parse(text))
  const least = smallestShared(split)
  const cost = BigInt(used.input) * input + BigInt(used.output) * output
  const costMicroUsd = (cost + million - 1n) / million
  const scaled = (costMicroUsd > minimum ? costMicroUsd : minimum) * 10n ** BigInt(decimals + 12)
  const costBaseUnits = (scaled + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  return costBaseUnits > least ? costBaseUnits : least
}
