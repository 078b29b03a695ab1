import type { Address } from '@tollbook/core/address'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { PaymentRail, RailRequest } from './rail.ts'

/** The caller, as far as headers name it. Nothing is verified yet. */
export interface IdentifiedCaller {
  readonly payer: Address | undefined
  /** The rail whose proof the request carries. Undefined when it carries none: the caller asks for an offer. */
  readonly payingBy: PaymentRail | undefined
}

/**
 * Asks the rails in their order. A proof counts more than a marker, because a client may announce several rails and pay by one. Of
 * a request without a proof the payer that any rail names is kept, so the offer has the part of that rail too. A request that
 * no rail claims may still be offered the rails that need no payer.
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
