import { assertNever, assertPresent } from '@tollbook/core/assert'
import { readBase64 } from '@tollbook/core/base64'
import { landTransaction } from './landTransaction.ts'
import { isEventStream, isStreamFor } from './judgeAnswer.ts'
import type { Payer } from './payer.ts'
import { PaymentError, PaymentNotSent, PaymentRefused, PaymentUnresolved } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { plainHeaders, presentPayment } from './presentPayment.ts'
import { createReceiptWatch } from './receiptWatch.ts'

export interface Delivery {
  readonly payment: PendingPayment
  /** False if the payment was just signed and has not been sent. */
  readonly sentBefore: boolean
  readonly signal: AbortSignal
}

/** Errors carry the payment, because tokens may have moved. `PaymentNotSent` carries none. */
export async function deliverPayment(payer: Payer, delivery: Delivery): Promise<Response> {
  const { payment } = delivery
  try {
    const answer = await landAndPresent(payer, delivery)
    if (isStreamFor(payment, answer)) return followStream(payer, payment, answer)
    await payer.open.close(payment, 'answered')
    return answer
  } catch (error) {
    // The service or node that refused the transaction has received it, and could still send it. So count the amount
    // until the transaction can no longer land.
    const isRefused = error instanceof PaymentRefused || error instanceof PaymentNotSent
    // A refused debit moved nothing and has no transaction that could land, so close it at once.
    if (isRefused && payment.debit !== undefined) await payer.open.close(payment, 'not_sent')
    else if (isRefused) await payer.refused.add(payment)
    await payer.open.leave(payment)
    throw error
  }
}

/**
 * Keeps the payment open until the last byte, because the caller repeats the request with the same payment if the
 * stream breaks.
 */
function followStream({ open }: Payer, payment: PendingPayment, { status, headers, body }: Response): Response {
  const reader = body?.getReader()
  // Check that an event stream ends with its receipt, because a proxy that lost the service may end it early. Other
  // payment protocols send no receipt.
  const watch = payment.protocol === undefined && isEventStream(headers) ? createReceiptWatch() : undefined
  const followed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const step = await reader?.read()
        if (step?.done === false) {
          watch?.read(step.value)
          return controller.enqueue(step.value)
        }
        if (watch?.hasReceipt() === false)
          throw new PaymentUnresolved('the streamed answer ended before its receipt', { payment })
        await open.close(payment, 'answered')
        controller.close()
      } catch (error) {
        await open.leave(payment)
        controller.error(error)
      }
    },
    // Close the payment if the reader stops early: it has received the part that it wanted.
    async cancel(reason) {
      await open.close(payment, 'answered')
      await reader?.cancel(reason)
    },
  })
  return new Response(followed, { status, headers: plainHeaders(headers) })
}

async function landAndPresent(payer: Payer, delivery: Delivery): Promise<Response> {
  const { payment, signal } = delivery
  const ownSending = payment.form === 'signature'
  try {
    if (ownSending) await land(payer, delivery)
    return await presentPayment(payer, { payment, confirmed: ownSending, signal })
  } catch (cause) {
    if (cause instanceof PaymentError || cause instanceof PaymentNotSent) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new PaymentUnresolved(why, { payment, cause })
  }
}

/**
 * Sends the transaction until it is confirmed. Throws if it failed or can no longer land. Only signature form needs
 * this, because its proof is a landed payment.
 */
async function land({ chain, clock }: Payer, { payment, sentBefore, signal }: Delivery): Promise<void> {
  const transaction = assertPresent(readBase64(payment.transaction), 'a pending payment holds base64')
  const landing = await landTransaction({ chain, clock, signal }, { ...payment, transaction, sentBefore })
  switch (landing.outcome) {
    case 'confirmed':
      return
    case 'failed':
      throw new PaymentRefused('transaction_failed', { payment })
    case 'expired':
      throw new PaymentRefused('blockhash_expired', { payment })
    case 'rejected':
      throw new PaymentNotSent(landing.why)
    default:
      assertNever(landing)
  }
}
