import { attoUsdScale } from '@tollbook/client/spendingLimit'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { assertPresent } from '@tollbook/core/assert'

export function formatUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoUsdScale)
}

/** The caller must have validated the text by a schema. */
export function readUsd(text: string): bigint {
  return assertPresent(parseDecimal(text, attoUsdScale), 'a checked amount is a decimal')
}
