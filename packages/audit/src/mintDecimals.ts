import { type AuditState, StateDocument } from './auditState.ts'

const decimalsOf = new StateDocument('mintDecimals', () => new Map<string, number>())

/**
 * Notes the decimals that a price or a setting gives a mint. A mint never changes them. Returns the difference from
 * those that the ledger gave first.
 */
export function noteDecimals(state: AuditState, mint: string, decimals: number): string | undefined {
  const known = decimalsOf.of(state)
  const first = known.get(mint)
  if (first === undefined) known.set(mint, decimals)
  return first === undefined || first === decimals
    ? undefined
    : `${mint} has ${decimals} decimals, and the ledger has ${first} on record`
}
