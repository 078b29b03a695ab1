import { attoUsdScale } from '@tollbook/client/spendingLimit'
import { formatDecimal, parseDecimal } from '@tollbook/core/money'
import { assertPresent } from '@tollbook/core/assert'

export function formatUsd(attoUsd: bigint): string {
  return formatDecimal(attoUsd, attoUsdScale)
}

/** Amounts of policies and calls. `readUsd` reads each of them. */
export const usdPattern = /^(0|[1-9]\d{0,8})(\.\d{1,18})?$/

/** Reads an amount that a schema has validated. Any other text fails an assertion. */
export function readUsd(text: string): bigint {
  return assertPresent(parseDecimal(text, attoUsdScale), 'a checked amount is a decimal')
}
