import { type MeteredTerms, readMetered } from '../publishedPrices.ts'
import { divideRoundingUp } from '../rounding.ts'
import { type DividedPrice, findShareProblem, smallestShared } from '../split.ts'

/* Computes the charge of a metered debit by the rules of docs/ledger.md. */

const million = 1_000_000n

export function findChargeProblem(metered: string, charge: DividedPrice): string | undefined {
  return findShareProblem(charge, readMetered(metered).split)
}

export interface Used {
  readonly input: number
  readonly output: number
}

type ByUse = Omit<MeteredTerms, 'priceMicroUsd' | 'requiredBaseUnits' | 'tokenBurnMint' | 'tokenBurnBaseUnits'>

/**
 * Returns the charge in base units. The cost is the units times their price per million, rounded up to micro dollars.
 * The minimum charge applies, and the result is rounded up to base units. It is at least the amount that leaves a base
 * unit to the accounts.
 */
export function chargeOfUse(terms: ByUse, used: Used): bigint {
  const { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd, tokenPriceAttoUsd, decimals, split } =
    terms
  const leastBaseUnits = smallestShared(split)
  const exact = BigInt(used.input) * inputPerMillionMicroUsd + BigInt(used.output) * outputPerMillionMicroUsd
  const costMicroUsd = divideRoundingUp(exact, million)
  const scaled = (costMicroUsd > minimumMicroUsd ? costMicroUsd : minimumMicroUsd) * 10n ** BigInt(decimals + 12)
  const costBaseUnits = divideRoundingUp(scaled, tokenPriceAttoUsd)
  return costBaseUnits > leastBaseUnits ? costBaseUnits : leastBaseUnits
}
