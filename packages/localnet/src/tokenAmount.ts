import { displayNumber, formatDecimal } from '@tollbook/core/money'

export interface TokenAmountJson {
  readonly [part: string]: string | number | null
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number | null
  readonly uiAmountString: string
}

/** Writes the amount exactly as a string, and rounded as a number for display. */
export function tokenAmountJson(baseUnits: bigint, decimals: number): TokenAmountJson {
  return {
    amount: baseUnits.toString(),
    decimals,
    // Return null if 10^decimals does not fit into 64 bits, as on a node.
    uiAmount: decimals > decimalsShownMax ? null : displayNumber(baseUnits, decimals),
    uiAmountString: formatDecimal(baseUnits, decimals),
  }
}

const decimalsShownMax = 19
