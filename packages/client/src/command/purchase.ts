import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { utf8Text } from '@tollbook/core/bytes'
import { createPayingFetch } from '../payingFetch.ts'
import type { PaymentProgress } from '../paymentProgress.ts'
import type { RetryLimits } from '../presentPayment.ts'
import { parseJson, readBody } from '../readBody.ts'
import { type ReceiptVerdict, verifyReceipt } from '../verifyReceipt.ts'
import type { PayOrder } from './payOrder.ts'

export interface PurchaseDeps {
  readonly interrupted: AbortSignal
  readonly clock?: Clock
  readonly retry?: Partial<RetryLimits>
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
}

/** An answer of the service, paid for if it had a price. */
export interface Purchase {
  readonly status: number
  readonly headers: Headers
  /** Parsed if it was JSON, text otherwise. */
  readonly body: unknown
  /** Undefined when there was no receipt, or no key to check it with. */
  readonly verdict: ReceiptVerdict | undefined
}

const answerBytesMax = 64 * 1024 * 1024
const paidBody = z.object({ receipt: z.unknown() })

/** Buys or resumes as the order says, and checks the receipt. */
export async function purchase(order: PayOrder, { interrupted: signal, ...deps }: PurchaseDeps): Promise<Purchase> {
  const { task, maxUsd, receiptKeys: keys, output: _output, ...options } = order
  const payingFetch = createPayingFetch({ ...options, ...deps, spendingLimit: { perRequest: { usd: maxUsd } } })
  const response =
    task.kind === 'buy'
      ? await payingFetch(task.request.input, { ...task.request.init, signal })
      : await payingFetch.resume(task.payment, { signal, ...(task.instead && { instead: task.instead }) })
  const bytes = await readBody(response, answerBytesMax)
  // Text that is not JSON is not an answer of the service: it is shown as it came.
  const body = parseJson(bytes) ?? utf8Text(bytes)
  const receipt = paidBody.safeParse(body).data?.receipt
  const verdict = receipt === undefined || keys === undefined ? undefined : await verifyReceipt({ receipt, keys })
  return { status: response.status, headers: response.headers, body, verdict }
}
