import { z } from 'zod'
import { usd } from '../body.ts'
import type { AuditedPrice } from '../price.ts'
import type { PublishedPrices } from '../publishedPrices.ts'

/* The charge of a debit that is paid by use, computed from docs/ledger.md. */

const million = 1_000_000n

const meteredText = z.object({
  input: usd,
  output: usd,
  minimum: usd,
  least: usd,
  tokenPriceAttoUsd: usd,
  decimals: z.int(),
})

/** Returns the price by use of an endpoint as text, for the row of a debit. Null if its price is fixed. */
export function meteredTextOf(prices: PublishedPrices, number: number, price: AuditedPrice): string | null {
  const { endpoint, tokenPriceAttoUsd, decimals } = price
  const metered = prices.meteredOf(number, endpoint)
  if (metered === undefined) return null
  const { inputPerMillionMicroUsd: input, outputPerMillionMicroUsd: output, minimumMicroUsd, leastBaseUnits } = metered
  const amounts = { input, output, minimum: minimumMicroUsd, least: leastBaseUnits, tokenPriceAttoUsd }
  const texts = Object.entries(amounts).map(([name, value]) => [name, value.toString()])
  return JSON.stringify({ ...Object.fromEntries(texts), decimals })
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
  const { input, output, minimum, least, tokenPriceAttoUsd, decimals } = meteredText.parse(JSON.parse(text))
  const cost = BigInt(used.input) * input + BigInt(used.output) * output
  const costMicroUsd = (cost + million - 1n) / million
  const scaled = (costMicroUsd > minimum ? costMicroUsd : minimum) * 10n ** BigInt(decimals + 12)
  const costBaseUnits = (scaled + tokenPriceAttoUsd - 1n) / tokenPriceAttoUsd
  return costBaseUnits > least ? costBaseUnits : least
}
