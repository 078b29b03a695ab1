import { displayNumber, formatDecimal } from '@tollbook/core/money'

export interface TokenAmountJson {
  readonly [part: string]: string | number | null
  readonly amount: string
  readonly decimals: number
  readonly uiAmount: number | null
  readonly uiAmountString: string
}

/** A token amount as nodes encode it: exact as a string, and rounded as a number for display. */
export function tokenAmountJson(baseUnits: bigint, decimals: number): TokenAmountJson {
  return {
    amount: baseUnits.toString(),
    decimals,
    // A node computes 10^decimals in 64 bits, and returns null if that overflows.
    uiAmount: decimals > decimalsShownMax ? null : displayNumber(baseUnits, decimals),
    uiAmountString: formatDecimal(baseUnits, decimals),
  }
}

const decimalsShownMax = 19
