import { InsufficientFunds, PaymentError, PaymentNotSent, QuoteRefused, SpendingLimitExceeded } from '@tollbook/client'
import { describeError, Fault } from '@tollbook/core/fault'
import { PolicyProblem } from '../policy/policy.ts'
import type { QuoteNote, Refusal, RefusalCode } from '../walletWire.ts'

/** Stops a call before a payment is sent. */
export class WalletRefusal extends Error {
  override readonly name = 'WalletRefusal'
  readonly refusal: Refusal

  constructor(
    code: RefusalCode,
    message: string,
    more: { readonly quote?: QuoteNote; readonly details?: string } = {},
  ) {
    super(message)
    this.refusal = { code, message, ...more }
  }
}

/** Undefined if the error is unexpected, such as a bug. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  const error = causeOf(thrown)
  if (error instanceof WalletRefusal) return error.refusal
  if (error instanceof PolicyProblem) return { code: 'POLICY_INVALID', message: error.message }
  if (error instanceof SpendingLimitExceeded) return { code: 'LIMIT_REACHED', message: limitMessage(error) }
  if (error instanceof InsufficientFunds)
    return { code: 'INSUFFICIENT_FUNDS', message: shortageMessage(error), details: error.message }
  if (error instanceof QuoteRefused)
    return {
      code: 'OFFER_REFUSED',
      message: `the offer of the service is refused: ${error.problem}`,
      details: error.message,
    }
  if (error instanceof PaymentNotSent)
    return { code: 'PAYMENT_NOT_SENT', message: 'no payment was made', details: describeError(error.cause ?? error) }
  if (error instanceof PaymentError) return paymentRefusal(error)
  if (error instanceof Fault || isFetchFailure(error))
    return {
      code: 'UNAVAILABLE',
      message: 'the service or the Solana node does not answer; nothing was paid',
      details: describeError(error),
    }
  // The SDK throws a TypeError for a URL that it never pays, such as plain http to another machine.
  if (error instanceof TypeError) return { code: 'URL_REFUSED', message: error.message }
  return undefined
}

/** Returns the refusal of the wallet or its policy that a `PaymentNotSent` wraps. Any other error is returned unchanged. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof PaymentNotSent)) return error
  return error.cause instanceof WalletRefusal || error.cause instanceof PolicyProblem ? error.cause : error
}

function limitMessage({ scope, unit, asked, allowed }: SpendingLimitExceeded): string {
  return `the owner's limit ${scope} leaves ${allowed} ${unit}, and the price is ${asked}; nothing was signed. Only the owner can change the limit`
}

/**
 * Writes a new message, because the message of the error contains a text of the service, which names a source of
 * tokens.
 */
function shortageMessage({ missing, mint, heldBaseUnits, requiredBaseUnits }: InsufficientFunds): string {
  const held = `it has ${heldBaseUnits} of ${requiredBaseUnits} base units of ${mint}`
  return `the wallet lacks ${missing.join(' and ')}${missing.includes('tokens') ? `: ${held}` : ''}; nothing was signed`
}

const paymentMessages = {
  PAYMENT_REFUSED: 'the service refused the payment for good; it is not made again',
  PAYMENT_UNSPENT: 'the service could not answer; the payment stays valid, and retry presents it again',
  PAYMENT_UNRESOLVED:
    'the outcome of the payment is not known; the same request or retry presents it again and never pays twice',
} as const

function paymentRefusal(error: PaymentError): Refusal {
  const { code } = error
  return { code, message: paymentMessages[code], details: error.message, signature: error.payment.signature }
}

/** True for a timeout, and for a TypeError with a cause, which `fetch` throws if it received no answer. */
function isFetchFailure(error: unknown): boolean {
  return (
    (error instanceof TypeError && error.cause !== undefined) ||
    (error instanceof Error && error.name === 'TimeoutError')
  )
}
