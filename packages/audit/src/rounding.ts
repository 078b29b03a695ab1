/*
 * The divisions of amounts. They assert nothing: an altered ledger may state any number, and what the audit computes
 * from it is then compared, and found.
 */

/** Rounds up: a price, a charge and a burn are promised in full. */
export function divideRoundingUp(total: bigint, parts: bigint): bigint {
  return (total + parts - 1n) / parts
}

/** Cuts off the fraction, for parts of an amount whose rest goes elsewhere. */
export function divideRoundingDown(total: bigint, parts: bigint): bigint {
  return total / parts
}
