import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import type { JsonObject } from '../document/jsonSchema.ts'
import type { Answer } from '../paywall/answer.ts'
import type { PaymentRail } from '../paywall/rail.ts'
import { jsonResult, type ToolResult } from './tool.ts'

const record = z.record(z.string(), z.json())

export interface AnsweredCall {
  readonly rails: readonly Pick<PaymentRail, 'meta'>[]
  /** `_meta` of the call. */
  readonly meta: JsonObject
}

/**
 * Converts an answer of the paywall. Only an answer with an offer looks like a demand for payment: a client pays again
 * for everything that does.
 */
export function resultOf(answer: Answer, call: AnsweredCall): ToolResult {
  return answer.status === 200 ? paidResult(answer, call) : unpaidResult(answer)
}

function paidResult({ headers, body }: Answer, { rails, meta }: AnsweredCall): ToolResult {
  const words = rails.map((rail) => rail.meta?.receiptOf(headers, meta) ?? {})
  const location = headers['receipt-location']
  const said: JsonObject = Object.assign(
    {},
    ...words,
    location === undefined ? {} : { 'tollbook/receipt-location': location },
    headers['idempotent-replay'] === 'true' ? { 'tollbook/replay': true } : {},
  )
  const content = contentOf(headers, body)
  if (content === undefined) return { isError: false, content: [{ type: 'text', text: body }], meta: said }
  // The receipt is for programs. In the content it would cost a model 500 tokens a call.
  const { receipt, inclusionProof = null, ...answer } = content
  const receipts = receipt === undefined ? {} : { 'tollbook/receipt': { receipt, inclusionProof } }
  return jsonResult(answer, false, { ...said, ...receipts })
}

function unpaidResult({ status, headers, body, offer = [] }: Answer): ToolResult {
  const own = contentOf(headers, body) ?? { error: body }
  const words = offer.map(({ toolWords }) => toolWords?.() ?? {})
  const meta: JsonObject = Object.assign({}, ...words.map((each) => each.meta ?? {}))
  const offered = words.find((each) => each.content !== undefined)?.content
  const retry = headers['retry-after']
  const waiting: JsonObject = retry === undefined ? {} : { 'tollbook/retry-after-seconds': Number(retry) }
  if (status !== 402 || offered === undefined) return jsonResult(own, true, { ...meta, ...waiting })
  return jsonResult(offered, true, { ...meta, 'tollbook/offer': own })
}

function contentOf(headers: Answer['headers'], body: string): JsonObject | undefined {
  if (headers['content-type']?.startsWith('application/json') !== true) return undefined
  const parsed: Json = z.json().parse(JSON.parse(body))
  return record.safeParse(parsed).data
}
