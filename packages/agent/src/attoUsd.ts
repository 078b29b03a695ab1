import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { assertPresent } from '@tollbook/core/assert'

/** Decimals of amounts in dollars. The payment folder counts dollars in the same unit. */
export const attoUsdScale = 18

export function formatUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoUsdScale)
}

/** Reads a decimal that a schema has checked. */
export function readUsd(text: string): bigint {
  return assertPresent(parseDecimal(text, attoUsdScale), 'a checked amount is a decimal')
}
