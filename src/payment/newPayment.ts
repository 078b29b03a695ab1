import type { InvalidPaymentReason, Refusal } from '@tollbook/core/refusal'
import type { PaymentState } from './payment.ts'

/** True if sending the same proof again cannot change this refusal. */
export function isPermanent({ code, retryAfterSeconds }: Refusal): boolean {
  return (code === 'INVALID_PAYMENT' || code === 'INSUFFICIENT_BALANCE') && retryAfterSeconds === undefined
}

/**
 * True if the refusal may include a new offer, which some clients pay at once. A recorded payment has moved tokens,
 * unless the chain reports otherwise.
 */
export function mayPayAgain(refusal: Refusal, payment: PaymentState | undefined): boolean {
  if (!isPermanent(refusal)) return false
  const isOnRecord = payment !== undefined && payment.phase !== 'unknown'
  return !isOnRecord || refusal.code === 'INSUFFICIENT_BALANCE' || movedNothing.has(refusal.reason)
}

const movedNothing: ReadonlySet<InvalidPaymentReason | undefined> = new Set([
  'transaction_failed',
  'blockhash_expired',
  'payment_reversed',
] as const)
