import { assert } from '@tollbook/core/assert'
import { divideRoundingDown, divideRoundingUp } from '@tollbook/core/money'

/** A price by use, such as the tokens of a chat. Rails that cannot charge less than they hold charge the fixed price. */
export interface MeteredPrice {
  readonly inputPerMillionMicroUsd: bigint
  readonly outputPerMillionMicroUsd: bigint
  /** Charged for each delivery that used less. */
  readonly minimumMicroUsd: bigint
}

/** Units of an answer that its price counts: tokens, bytes or rows. */
export interface Usage {
  readonly input: number
  readonly output: number
  /** True if the service counted, because the provider reported nothing. */
  readonly isEstimated: boolean
}

const million = 1_000_000n

export function chargeOf(price: MeteredPrice, { input, output }: Pick<Usage, 'input' | 'output'>): bigint {
  assert(Number.isSafeInteger(input) && input >= 0, 'units of input are counted')
  assert(Number.isSafeInteger(output) && output >= 0, 'units of output are counted')
  const { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd } = price
  const used = BigInt(input) * inputPerMillionMicroUsd + BigInt(output) * outputPerMillionMicroUsd
  const charge = divideRoundingUp(used, million)
  return charge > minimumMicroUsd ? charge : minimumMicroUsd
}

/** Units of output that a budget pays for next to this input. Undefined if it does not pay for one. */
export function outputWithin(
  { inputPerMillionMicroUsd, outputPerMillionMicroUsd, minimumMicroUsd }: MeteredPrice,
  { input, budgetMicroUsd }: { readonly input: number; readonly budgetMicroUsd: bigint },
): number | undefined {
  const left = budgetMicroUsd * million - BigInt(input) * inputPerMillionMicroUsd
  if (budgetMicroUsd < minimumMicroUsd || left < outputPerMillionMicroUsd) return undefined
  if (outputPerMillionMicroUsd === 0n) return Number.MAX_SAFE_INTEGER
  const output = divideRoundingDown(left, outputPerMillionMicroUsd)
  return output > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(output)
}

// Providers ask three to five times as much for a token of output as for one of input.
const outputPerInput = 4n
// The longest conversation has 16,000 characters, about 4,000 tokens of English.
const inputTokensUsual = 4_000n
const minimumShare = 50n

/** The metered price of a model for which the operator stated none: an answer of full length costs the fixed price. */
export function meteredPriceOf(priceMicroUsd: bigint, outputTokensMax: number): MeteredPrice {
  const units = inputTokensUsual + BigInt(outputTokensMax) * outputPerInput
  const inputPerMillionMicroUsd = divideRoundingUp(priceMicroUsd * million, units)
  return {
    inputPerMillionMicroUsd,
    outputPerMillionMicroUsd: inputPerMillionMicroUsd * outputPerInput,
    minimumMicroUsd: divideRoundingUp(priceMicroUsd, minimumShare),
  }
}
