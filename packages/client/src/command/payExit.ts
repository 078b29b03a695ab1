import { docsOf, InvalidOption } from '../errorCode.ts'
import { InsufficientFunds } from '../insufficientFunds.ts'
import {
  PaymentError,
  type PaymentErrorParts,
  PaymentNotSent,
  PaymentRefused,
  PaymentUnspent,
} from '../paymentError.ts'
import { QuoteRefused } from '../quoteProblem.ts'
import { SpendingLimitExceeded } from '../spendingLimit.ts'
import { Fault } from '@tollbook/core/fault'
import { UsageProblem } from './usageProblem.ts'

/** Exit codes of the payer's command. They tell a script whether paying again could pay twice. */
export const payExitCodes = {
  answered: 0,
  usage: 2,
  overLimit: 3,
  paymentRefused: 4,
  outcomeUnknown: 5,
  requestRefused: 6,
  unavailable: 7,
  quoteRefused: 8,
  receiptInvalid: 9,
  insufficientFunds: 10,
  interrupted: 130,
} as const

/** The outcome of a tab's deposit is not known. Running `tab open` again completes the record of the tab. */
export class DepositUnresolved extends Error {
  override readonly name = 'DepositUnresolved'

  constructor(cause: PaymentError) {
    super('the outcome of the deposit is not known; run the same command again, which pays no second one', { cause })
  }
}

/** The payment bought an answer, which was lost on the way to its file or pipe. */
export class AnswerNotWritten extends PaymentError {
  override readonly name = 'AnswerNotWritten'
  readonly code = 'PAYMENT_UNRESOLVED'
  readonly docs = docsOf('PAYMENT_UNRESOLVED')

  constructor(why: string, parts: PaymentErrorParts) {
    super(`payment ${parts.payment.signature} bought the answer, but ${why}; do not pay again, resume it`, parts)
  }
}

/** Undefined for an error that is not expected, such as a bug of this package or a full disk. */
export function exitCodeOf(error: unknown, interrupted: AbortSignal): number | undefined {
  if (error instanceof DepositUnresolved) return payExitCodes.outcomeUnknown
  if (error instanceof UsageProblem || error instanceof InvalidOption) return payExitCodes.usage
  if (error instanceof SpendingLimitExceeded) return payExitCodes.overLimit
  if (error instanceof InsufficientFunds) return payExitCodes.insufficientFunds
  if (error instanceof QuoteRefused) return payExitCodes.quoteRefused
  if (error instanceof PaymentRefused) return payExitCodes.paymentRefused
  if (error instanceof PaymentUnspent) return exitCodeOfStatus(error.lastAnswer?.status ?? 0)
  if (error instanceof PaymentError) return payExitCodes.outcomeUnknown
  if (interrupted.aborted) return payExitCodes.interrupted
  if (error instanceof PaymentNotSent)
    return isRetryable(error.cause) ? payExitCodes.unavailable : payExitCodes.paymentRefused
  if (error instanceof Fault) return error.retryable ? payExitCodes.unavailable : payExitCodes.usage
  return isConnectionFailure(error) ? payExitCodes.unavailable : undefined
}

/** True for a TypeError with a cause, which `fetch` throws if it received no answer. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined
}

function isRetryable(cause: unknown): boolean {
  return cause instanceof Fault && cause.retryable
}

/** Treats 429 like 5xx, because the same request may succeed later. */
export function exitCodeOfStatus(status: number): number {
  if (status >= 200 && status <= 299) return payExitCodes.answered
  return status >= 500 || status === 429 ? payExitCodes.unavailable : payExitCodes.requestRefused
}
