import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { assertPresent } from '@tollbook/core/assert'

/** Amounts in US dollars are multiples of 10^-18 dollars, as in the payment folder. */
export const attoUsdScale = 18

export function formatUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoUsdScale)
}

/** The caller must have validated the text by a schema. */
export function readUsd(text: string): bigint {
  return assertPresent(parseDecimal(text, attoUsdScale), 'a checked amount is a decimal')
}
