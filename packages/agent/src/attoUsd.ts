import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { assertPresent } from '@tollbook/core/assert'

/** Decimals of amounts in US dollars. The payment folder uses the same unit. */
export const attoUsdScale = 18

export function formatUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoUsdScale)
}

/** Reads a decimal that a schema has already validated. */
export function readUsd(text: string): bigint {
  return assertPresent(parseDecimal(text, attoUsdScale), 'a checked amount is a decimal')
}
