import { type AuditState, StateDocument } from './auditState.ts'

const decimalsOf = new StateDocument('mintDecimals', () => new Map<string, number>())

/**
 * Notes the decimals of a mint from a price or a setting. A mint never changes its decimals. Returns an error if they
 * differ from the first ones in the ledger.
 */
export function noteDecimals(state: AuditState, mint: string, decimals: number): string | undefined {
  const known = decimalsOf.of(state)
  const first = known.get(mint)
  if (first === undefined) known.set(mint, decimals)
  return first === undefined || first === decimals
    ? undefined
    : `${mint} has ${decimals} decimals, and the ledger has ${first} on record`
}
