/*
 * Divisions of amounts. They have no assertions, because an altered ledger may contain any number. The audit compares
 * the results and reports the differences.
 */

/** Divides and rounds up, for prices, charges and burns, which must be paid in full. */
export function divideRoundingUp(total: bigint, parts: bigint): bigint {
  return (total + parts - 1n) / parts
}

/** Divides and rounds toward zero, for shares whose remainder is allocated separately. */
export function divideRoundingDown(total: bigint, parts: bigint): bigint {
  return total / parts
}
