import { assert, assertNever } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import { type Refusal, refuse, refuseNumberUsed, refuseProof } from '@tollbook/core/refusal'
import type { LiveAttempt, Order, PaymentState, Verified } from './payment.ts'
import type { KnownPayment, SponsoredPurchase } from './paymentLedger.ts'
import { isDebit } from './tabSettlement.ts'

/**
 * Returns the refusal if the order may not use the payment. Needs no chain query, so that a used payment costs no RPC
 * call.
 */
export function mayUse(state: PaymentState, order: Order, nowMs: number): Refusal | undefined {
  const debited = 'settlement' in state ? checkDebit(state, order, nowMs) : undefined
  if (debited !== undefined) return debited
  switch (state.phase) {
    case 'unknown':
      return undefined
    case 'submitted':
      return checkOwner(state.wallet, state.endpoint, order)
    case 'fulfilled':
      return checkOwner(state.settlement.wallet, order.endpoint, order) ?? refuseProof('already_used')
    case 'exhausted':
    case 'refund_due':
    case 'reversed':
      return checkOwner(state.settlement.wallet, order.endpoint, order) ?? refuseProof(endReasons[state.phase])
    case 'unmatched':
      return refuseProof('too_old')
    case 'claimed':
    case 'streaming':
      return checkOwner(state.settlement.wallet, state.endpoint, order) ?? checkLease(state, nowMs)
    case 'verified':
    case 'released':
      return checkOwner(state.settlement.wallet, state.endpoint, order)
    default:
      return assertNever(state)
  }
}

/** Refuses another order with the number of a debit, and a retry after the signed debit has expired. */
function checkDebit({ phase, settlement }: Verified & Pick<PaymentState, 'phase'>, order: Order, nowMs: number) {
  if (!isDebit(settlement) || settlement.wallet !== order.wallet) return undefined
  const { orderDigest, signed } = settlement.debit
  if (orderDigest !== order.digest) return refuseNumberUsed()
  const isLate = phase === 'released' && signed !== undefined && nowMs > signed.validUntilMs
  return isLate ? refuseProof('tab_debit_expired') : undefined
}

const endReasons = {
  exhausted: 'attempts_exhausted',
  refund_due: 'refund_due',
  reversed: 'payment_reversed',
} as const

function checkOwner(wallet: Address, endpoint: string, order: Order): Refusal | undefined {
  if (wallet !== order.wallet) return refuseProof('other_wallet')
  if (endpoint !== order.endpoint) return refuseProof('other_endpoint', endpoint)
  return undefined
}

type AttemptLease = Pick<LiveAttempt, 'leaseMs' | 'leaseUntilMs'>

// Half of this difference between the clocks of server and database closes the paid routes (jobs/clockHealth.ts).
const clockDifferenceMaxMs = 60_000

/**
 * True after the end of the lease. Also true if the lease begins in the future, because the clock of the database has
 * then gone back. A wrong result is safe, because the ledger decides by its own time.
 */
export function mayTakeOver({ leaseMs, leaseUntilMs }: AttemptLease, nowMs: number): boolean {
  assert(leaseMs > 0, 'a lease has a length')
  return nowMs >= leaseUntilMs || nowMs < leaseUntilMs - leaseMs - clockDifferenceMaxMs
}

function checkLease(lease: AttemptLease, nowMs: number): Refusal | undefined {
  if (mayTakeOver(lease, nowMs)) return undefined
  return refuseInProgress(Math.min(Math.ceil((lease.leaseUntilMs - nowMs) / 1000), inProgressRetryMaxSeconds))
}

export function refuseInProgress(retryAfterSeconds: number): Refusal {
  assert(retryAfterSeconds >= 1, 'a caller is asked to wait')
  return refuse(
    'PAYMENT_IN_PROGRESS',
    'another request with this proof is being served; retry with the same proof',
    retryAfterSeconds,
  )
}

// Upper bound of Retry-After in seconds. Most answers are ready long before a lease ends.
export const inProgressRetryMaxSeconds = 5

/**
 * `resumed`: the earlier payment serves the later request. `in_progress`: the earlier request may still be running.
 * `over`: the payment has bought its answer, or can no longer buy one.
 */
export type EarlierUse = 'resumed' | 'in_progress' | 'over'

// A request waits at most 10 s for the landing, so it has ended by then, or the payment has another state.
const sentForMs = 12_000

/**
 * Judges whether an earlier payment serves the request. Some clients bring a new payment instead of repeating a
 * request, although the wallet has already paid.
 */
export function judgeEarlierUse(
  { payment, stored }: Pick<KnownPayment, 'payment' | 'stored'>,
  { ageMs }: Pick<SponsoredPurchase, 'ageMs'>,
  nowMs: number,
): EarlierUse {
  switch (payment.phase) {
    case 'submitted':
      return ageMs >= sentForMs ? 'resumed' : 'in_progress'
    case 'claimed':
    case 'streaming':
      return mayTakeOver(payment, nowMs) ? 'resumed' : 'in_progress'
    case 'verified':
    case 'released':
      return 'resumed'
    case 'fulfilled':
      // Do not resume after the whole answer was sent: the wallet may want a new answer to the same order.
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
