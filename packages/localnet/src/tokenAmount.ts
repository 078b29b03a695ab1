import { displayNumber, formatDecimal } from '@tollbook/core/money'

export interface TokenAmountJson {
  readonly [part: string]: string | number | null
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number | null
  readonly uiAmountString: string
}

/** A token amount as nodes write it: exact as text, and rounded as a number for those who only show it. */
export function tokenAmountJson(baseUnits: bigint, decimals: number): TokenAmountJson {
  return {
    amount: baseUnits.toString(),
    decimals,
    // A node computes 10^decimals in 64 bits, and has no number to show where that overflows.
    uiAmount: decimals > decimalsShownMax ? null : displayNumber(baseUnits, decimals),
    uiAmountString: formatDecimal(baseUnits, decimals),
  }
}

const decimalsShownMax = 19
