import { assertNever } from '@tollbook/core/assert'
import { mayTakeOver } from './lease.ts'
import type { KnownPayment, SponsoredPurchase } from './paymentLedger.ts'

/**
 * Use of a payment by another request of its wallet for the same order. `resumed`: its own request has ended without an
 * answer, so this request gets it. `served`: its own request may still be running. `over`: it has bought its answer, or
 * no longer buys.
 */
export type Purchase = 'resumed' | 'served' | 'over'

// A request waits for 10 s for what it has sent to land. Then it has ended, or the payment has another state.
const sentForMs = 12_000

/** Stock clients repeat no request, so the next call for an order brings a new payment, although the wallet has paid. */
export function judgePurchase(
  { payment, stored }: Pick<KnownPayment, 'payment' | 'stored'>,
  { ageMs }: Pick<SponsoredPurchase, 'ageMs'>,
  nowMs: number,
): Purchase {
  switch (payment.phase) {
    case 'submitted':
      return ageMs >= sentForMs ? 'resumed' : 'served'
    case 'claimed':
    case 'streaming':
      return mayTakeOver(payment, nowMs) ? 'resumed' : 'served'
    case 'verified':
    case 'released':
      return 'resumed'
    case 'fulfilled':
      // Sent, as far as this service can see: the wallet may want a new answer to the same order.
      return stored === undefined || stored.isSent ? 'over' : 'resumed'
    case 'unknown':
    case 'exhausted':
    case 'refund_due':
    case 'reversed':
    case 'unmatched':
      return 'over'
    default:
      return assertNever(payment)
  }
}
