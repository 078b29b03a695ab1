import { PaymentError, PaymentNotSent, PaymentRefused, PaymentUnspent } from '@tollbook/client/paymentError'
import { QuoteRefused } from '@tollbook/client/quoteProblem'
import { SpendingLimitExceeded } from '@tollbook/client/spendingLimit'
import { Fault } from '@tollbook/core/fault'
import { UsageProblem, usageExitCode } from './usageProblem.ts'

/** The exit codes of `tollbook pay`. A script can tell by them whether paying again would be paying twice. */
export const payExitCodes = {
  answered: 0,
  usage: usageExitCode,
  overLimit: 3,
  paymentRefused: 4,
  outcomeUnknown: 5,
  requestRefused: 6,
  unavailable: 7,
  quoteRefused: 8,
  receiptInvalid: 9,
  interrupted: 130,
} as const

export const payExitHelp = `
Exit codes:
  0    answered, and the receipt verified if its key was known
  2    wrong usage: an option, a file or a URL
  3    the price is above --max-usd; nothing was signed
  4    the payment was permanently refused; no answer, and nothing is paid again
  5    the outcome of the payment is unknown; resume it, do not pay again
  6    the request was rejected; a payment, if made, stays valid and can be resumed for another request
  7    the service, its source or the Solana node is unavailable; a payment, if made, stays valid
  8    the offer of the service is inconsistent, or names another mint, wallet or network; nothing was signed
  9    answered, but the receipt does not verify
  130  interrupted before anything was paid`

/** Undefined for what is not an outcome but a bug of ours. */
export function exitCodeOf(error: unknown, interrupted: AbortSignal): number | undefined {
  if (error instanceof UsageProblem) return payExitCodes.usage
  if (error instanceof SpendingLimitExceeded) return payExitCodes.overLimit
  if (error instanceof QuoteRefused) return payExitCodes.quoteRefused
  if (error instanceof PaymentRefused) return payExitCodes.paymentRefused
  if (error instanceof PaymentUnspent) return exitCodeOfStatus(error.lastAnswer?.status ?? 0)
  if (error instanceof PaymentError) return payExitCodes.outcomeUnknown
  if (interrupted.aborted) return payExitCodes.interrupted
  if (error instanceof PaymentNotSent)
    return isRetryable(error.cause) ? payExitCodes.unavailable : payExitCodes.paymentRefused
  if (error instanceof Fault) return error.retryable ? payExitCodes.unavailable : payExitCodes.usage
  return isNobodyThere(error) ? payExitCodes.unavailable : undefined
}

/** Error of `fetch` without an answer. */
export function isNobodyThere(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined
}

function isRetryable(cause: unknown): boolean {
  return cause instanceof Fault && cause.retryable
}

/** Meaning of a plain answer: a rejected request, or a service that cannot answer now. */
export function exitCodeOfStatus(status: number): number {
  if (status >= 200 && status <= 299) return payExitCodes.answered
  return status >= 500 || status === 429 ? payExitCodes.unavailable : payExitCodes.requestRefused
}
