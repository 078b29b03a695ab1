import type { Address } from '@tollbook/core/address'
import { isRefusal, type Refusal } from '@tollbook/core/refusal'
import type { PaymentRail, RailRequest } from './rail.ts'

/** The caller as the headers of the request state it. No value is verified yet. */
export interface IdentifiedCaller {
  readonly payer: Address | undefined
  /**
   * The rail of the proof in the request. Undefined if the request has no proof, which means that the caller requests
   * an offer.
   */
  readonly payingBy: PaymentRail | undefined
}

/**
 * Identifies the caller by the rails, in their order. A proof has priority over a marker, because a client may announce
 * several rails and pay by one rail. Without a proof, the function returns the first payer that a rail reads from the
 * request, so that the offer includes that rail. A request without a payer may still get offers from rails that need no
 * payer.
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
