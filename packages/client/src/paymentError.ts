import { errorBody, errorMessage } from '@tollbook/core/wire'
import { docsOf } from './errorCode.ts'
import type { PendingPayment } from './pendingPayment.ts'

/** The payment was stopped before it was sent, or the node rejected the transaction in preflight. */
export class PaymentNotSent extends Error {
  override readonly name = 'PaymentNotSent'
  readonly code = 'PAYMENT_NOT_SENT'
  readonly docs = docsOf('PAYMENT_NOT_SENT')

  constructor(why: string, cause?: unknown) {
    super(`no payment was made: ${why}`, { cause })
  }
}

/** The answer that decided the outcome. Undefined: the chain decided it, or no answer arrived. */
export interface LastAnswer {
  readonly status: number
  readonly code: string | undefined
  readonly reason: string | undefined
  /** Parsed JSON, or text if the body is not JSON. */
  readonly body: unknown
}

/**
 * A signed payment was sent, and has not bought an answer. The error carries the payment with its proof on purpose. A
 * proof in a log could be stolen before it is used, but without a copy of the proof the payment is lost.
 */
export abstract class PaymentError extends Error {
  abstract readonly code: 'PAYMENT_REFUSED' | 'PAYMENT_UNRESOLVED' | 'PAYMENT_UNSPENT'
  abstract readonly docs: string
  readonly payment: PendingPayment
  readonly lastAnswer: LastAnswer | undefined

  constructor(message: string, { payment, lastAnswer, cause }: PaymentErrorParts) {
    super(message, { cause })
    this.payment = payment
    this.lastAnswer = lastAnswer
  }
}

export interface PaymentErrorParts {
  readonly payment: PendingPayment
  readonly lastAnswer?: LastAnswer | undefined
  readonly cause?: unknown
}

/** The proof can no longer be used, so this payment buys no answer. The package does not pay again. */
export class PaymentRefused extends PaymentError {
  override readonly name = 'PaymentRefused'
  readonly code = 'PAYMENT_REFUSED'
  readonly docs = docsOf('PAYMENT_REFUSED')
  readonly reason: string

  constructor(reason: string, parts: PaymentErrorParts) {
    super(`payment ${parts.payment.signature} was refused (${reason})${said(parts)}`, parts)
    this.reason = reason
  }
}

/** The payment is valid and unused. The same proof can buy another answer. */
export class PaymentUnspent extends PaymentError {
  override readonly name = 'PaymentUnspent'
  readonly code = 'PAYMENT_UNSPENT'
  readonly docs = docsOf('PAYMENT_UNSPENT')

  constructor(parts: PaymentErrorParts) {
    super(
      `payment ${parts.payment.signature} bought no answer and stays good${said(parts)}; do not pay again, resume it`,
      parts,
    )
  }
}

/** The outcome of the payment is unknown. Resume the payment, because a new payment could pay twice. */
export class PaymentUnresolved extends PaymentError {
  override readonly name = 'PaymentUnresolved'
  readonly code = 'PAYMENT_UNRESOLVED'
  readonly docs = docsOf('PAYMENT_UNRESOLVED')

  constructor(why: string, parts: PaymentErrorParts) {
    super(
      `the outcome of payment ${parts.payment.signature} is not known (${why})${said(parts)}; do not pay again, resume it`,
      parts,
    )
  }
}

function said({ lastAnswer }: PaymentErrorParts): string {
  if (lastAnswer === undefined) return ''
  const { status, code, body } = lastAnswer
  const { data } = errorBody.pick({ error: true }).safeParse(body)
  const text = data === undefined ? '' : `: ${errorMessage(data.error)}`
  return `; the service said ${status}${code === undefined ? '' : ` ${code}`}${text}`
}
