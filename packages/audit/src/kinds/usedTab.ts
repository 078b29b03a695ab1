import { type MeteredTerms, readMetered } from '../publishedPrices.ts'
import { divideRoundingUp } from '../rounding.ts'
import { type DividedPrice, findShareProblem, smallestShared } from '../split.ts'

/* The charge of a debit that is paid by use, computed from docs/ledger.md. */

const million = 1_000_000n

/** Returns how a charge by use differs from the split of its price list. */
export function findChargeProblem(metered: string, charge: DividedPrice): string | undefined {
  return findShareProblem(charge, readMetered(metered).split)
}

export interface Used {
  readonly input: number
  readonly output: number
}

type ByUse = Pick<MeteredTerms, 'input' | 'output' | 'minimum' | 'tokenPriceAttoUsd' | 'decimals' | 'split'>

/**
 * The charge in base units: units at their price per million, rounded up to micro dollars, at least the minimum,
 * rounded up to base units.
 */
export function chargeOfUse(terms: ByUse, used: Used): bigint {
  const { input, output, minimum, tokenPriceAttoUsd, decimals, split } = terms
  const least = smallestShared(split)
  const cost = BigInt(used.input) * input + BigInt(used.output) * output
  const costMicroUsd = divideRoundingUp(cost, million)
  const scaled = (costMicroUsd > minimum ? costMicroUsd : minimum) * 10n ** BigInt(decimals + 12)
  const costBaseUnits = divideRoundingUp(scaled, tokenPriceAttoUsd)
  return costBaseUnits > least ? costBaseUnits : least
}
