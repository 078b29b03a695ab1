import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import { utf8Bytes, utf8Text } from '@tollbook/core/bytes'
import { openPaymentFolder } from '../paymentFolder.ts'
import type { PaymentStore } from '../paymentStore.ts'
import { createPayingFetch } from '../payingFetch.ts'
import type { PaymentProgress } from '../paymentProgress.ts'
import type { RetryLimits } from '../presentPayment.ts'
import { parseJson, readBody } from '../readBody.ts'
import { readReceiptHeader } from '../receiptHeader.ts'
import { type ReceiptVerdict, verifyReceipt } from '../verifyReceipt.ts'
import type { PayOrder } from './payOrder.ts'

export interface PurchaseDeps {
  readonly interrupted: AbortSignal
  readonly clock?: Clock
  readonly retry?: Partial<RetryLimits>
  /** Folder of tabs. The purchase spends an open tab, and never opens one. Absent: no tab is spent. */
  readonly tabFolder?: string
  readonly onEvent: (event: PaymentProgress) => void | Promise<void>
}

export interface BoughtAnswer {
  readonly status: number
  readonly headers: Headers
  /**
   * JSON value of the answer, or its text if it is not JSON. An answer without an envelope is in `data`, with `receipt`
   * and `meta` from its headers.
   */
  readonly body: unknown
  /** Exact bytes of an answer without an envelope. Undefined: the answer has an envelope, or no receipt. */
  readonly bytes: Uint8Array | undefined
  /** Undefined if the answer lacks a receipt, or if the order lacks a key to verify it. */
  readonly verdict: ReceiptVerdict | undefined
}

const answerBytesMax = 64 * 1024 * 1024
const paidBody = z.object({ receipt: z.unknown() })

export async function purchase(order: PayOrder, deps: PurchaseDeps): Promise<BoughtAnswer> {
  const { interrupted: signal, tabFolder, ...others } = deps
  const { task, maxUsd, receiptKeys: keys, output: _output, folder: _folder, ...options } = order
  const tabs = tabFolder === undefined ? {} : ({ store: tabsOf(tabFolder), tab: { depositUsd: 0 } } as const)
  const spendingLimit = { perRequest: { usd: maxUsd } }
  const payingFetch = createPayingFetch({ ...options, ...others, ...tabs, spendingLimit })
  const response =
    task.kind === 'buy'
      ? await payingFetch(task.request.input, { ...task.request.init, signal })
      : await payingFetch.resume(task.payment, { signal, ...(task.instead && { instead: task.instead }) })
  const bytes = await readBody(response, answerBytesMax)
  const { status, headers } = response
  const content = parseJson(bytes) ?? utf8Text(bytes)
  const inHeader = status === 200 ? readReceiptHeader(headers) : undefined
  const body = inHeader === undefined ? content : { data: content, receipt: inHeader, meta: metaOf(headers) }
  const receipt = paidBody.safeParse(body).data?.receipt
  const verdict = receipt === undefined || keys === undefined ? undefined : await verifyReceipt({ receipt, keys })
  return { status, headers, body, bytes: inHeader === undefined ? undefined : bytes, verdict }
}

/** Keeps tabs only. The command stores its payments itself, because its user resumes them. */
function tabsOf(folder: string): PaymentStore {
  const { readTab, keepTab } = openPaymentFolder(folder)
  const nothing = () => Promise.resolve()
  const none = () => Promise.resolve([])
  return {
    keep: nothing,
    close: nothing,
    pending: none,
    spending: none,
    ...(readTab && { readTab }),
    ...(keepTab && { keepTab }),
  }
}

function metaOf(headers: Headers): unknown {
  return parseJson(utf8Bytes(headers.get('x-answer-meta') ?? 'null'))
}
