import { assert } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp, larger } from '@tollbook/core/money'

/** Rails that cannot charge less than they hold charge the fixed price instead. */
export interface MeteredPrice {
  readonly inputPerMillionMicroUsd: bigint
  readonly outputPerMillionMicroUsd: bigint
  readonly minimumMicroUsd: bigint
}

/**
 * Counted in tokens, bytes or rows. `isEstimated`: the provider did not report the tokens, so the service estimated
 * them from the length of the texts. Bytes and rows are never estimated.
 */
export interface Usage {
  readonly input: number
  readonly output: number
  readonly isEstimated: boolean
}

const million = 1_000_000n

export function chargeOf(price: MeteredPrice, { input, output }: Pick<Usage, 'input' | 'output'>): bigint {
  assert(Number.isSafeInteger(input) && input >= 0, 'units of input are counted')
  assert(Number.isSafeInteger(output) && output >= 0, 'units of output are counted')
  const { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd } = price
  const usedPicoUsd = BigInt(input) * inputPerMillionMicroUsd + BigInt(output) * outputPerMillionMicroUsd
  const chargeMicroUsd = divideRoundingUp(usedPicoUsd, million)
  return larger(chargeMicroUsd, minimumMicroUsd)
}

/** Undefined if the budget covers no unit of output in addition to the input. */
export function outputWithin(
  { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd }: MeteredPrice,
  { input, budgetMicroUsd }: { readonly input: number; readonly budgetMicroUsd: bigint },
): number | undefined {
  const leftPicoUsd = budgetMicroUsd * million - BigInt(input) * inputPerMillionMicroUsd
  if (budgetMicroUsd < minimumMicroUsd || leftPicoUsd < outputPerMillionMicroUsd) return undefined
  if (outputPerMillionMicroUsd === 0n) return Number.MAX_SAFE_INTEGER
  const output = divideRoundingDown(leftPicoUsd, outputPerMillionMicroUsd)
  return output > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(output)
}

// Providers usually charge three to five times as much for a token of output as for a token of input.
const outputPerInput = 4n
// The longest conversation has 16,000 characters, which is about 4,000 tokens of English text.
const inputTokensUsual = 4_000n
const minimumShare = 50n

/** With this price, a full-length answer to the longest conversation costs at least the fixed price. */
export function meteredPriceOf(priceMicroUsd: bigint, outputTokensMax: number): MeteredPrice {
  const units = inputTokensUsual + BigInt(outputTokensMax) * outputPerInput
  const inputPerMillionMicroUsd = divideRoundingUp(priceMicroUsd * million, units)
  return {
    inputPerMillionMicroUsd,
    outputPerMillionMicroUsd: inputPerMillionMicroUsd * outputPerInput,
    minimumMicroUsd: divideRoundingUp(priceMicroUsd, minimumShare),
  }
}
