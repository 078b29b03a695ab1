import type { InvalidPaymentReason, Refusal } from '@tollbook/core/refusal'
import type { PaymentState } from './payment.ts'

/** A refusal that no repetition of the same proof changes. */
export function isPermanent({ code, retryAfterSeconds }: Refusal): boolean {
  return (code === 'INVALID_PAYMENT' || code === 'INSUFFICIENT_BALANCE') && retryAfterSeconds === undefined
}

/**
 * Whether a new offer may go with the refusal. Some clients answer an offer with a payment at once. A payment on record
 * has moved tokens, unless the chain says that it has not.
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
