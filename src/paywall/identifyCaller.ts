import type { Address } from '@tollbook/core/address'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { PaymentRail, RailRequest } from './rail.ts'

/** Values that the request states, not verified yet. */
export interface IdentifiedCaller {
  readonly payer: Address | undefined
  /** Undefined if the request has no proof, which means that the caller requests an offer. */
  readonly payingBy: PaymentRail | undefined
}

/**
 * A proof has priority over a marker, because a client may announce several rails and pay by one. Without a proof, the
 * first payer that a rail reads counts.
 */
export function identifyCaller(rails: readonly PaymentRail[], request: RailRequest): IdentifiedCaller | Refusal {
  const payingBy = rails.find((rail) => rail.carriesProof(request))
  let isMarked = false
  for (const rail of payingBy === undefined ? rails : [payingBy]) {
    const caller = rail.identify(request)
    if (caller === undefined || (isMarked && isRefusal(caller))) continue
    if (isRefusal(caller)) return caller
    if (caller.payer !== undefined) return { payer: caller.payer, payingBy }
    isMarked = true
  }
  return { payer: undefined, payingBy }
}
