import { type AuditState, StateDocument } from '../auditState.ts'

const burnsOwed = new StateDocument('burnsOwed', () => new Map<string, bigint>())

interface Debtor {
  readonly mint: string
  readonly endpoint: string
}

/**
 * Adds to the burn that is owed for the answers of an endpoint. A negative `baseUnits` cancels a debt. Returns the new
 * sum.
 */
export function noteBurnOwed(state: AuditState, { mint, endpoint }: Debtor, baseUnits: bigint): bigint {
  const owed = burnsOwed.of(state)
  const key = `${mint} ${endpoint}`
  const after = (owed.get(key) ?? 0n) + baseUnits
  if (baseUnits !== 0n) owed.set(key, after)
  return after
}
