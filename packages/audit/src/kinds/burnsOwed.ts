import { type AuditState, StateDocument } from '../auditState.ts'

const burnsOwed = new StateDocument('burnsOwed', () => new Map<string, bigint>())

interface Debtor {
  readonly mint: string
  readonly endpoint: string
}

/** Adds to the burn owed for an endpoint. A negative amount cancels a debt. Returns the new total in base units. */
export function noteBurnOwed(state: AuditState, { mint, endpoint }: Debtor, baseUnits: bigint): bigint {
  const owed = burnsOwed.of(state)
  const key = `${mint} ${endpoint}`
  const afterBaseUnits = (owed.get(key) ?? 0n) + baseUnits
  if (baseUnits !== 0n) owed.set(key, afterBaseUnits)
  return afterBaseUnits
}
