import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { JsonObject } from '../document/jsonSchema.ts'
import type { Answer, RawAnswer } from '../paywall/answer.ts'
import type { PaymentRail } from '../paywall/rail.ts'
import { jsonResult } from './tool.ts'

const record = z.record(z.string(), z.json())

export interface AnsweredCall {
  readonly rails: readonly Pick<PaymentRail, 'meta'>[]
  /** Member `_meta` of the call. The receipt of a rail may refer to the payment in it. */
  readonly meta: JsonObject
}

/**
 * Converts an answer of the paywall to a tool result. Only an answer with an offer may look like a demand for payment,
 * because a client pays again for every such result.
 */
export function resultOf({ body, ...answer }: Answer | RawAnswer, call: AnsweredCall): CallToolResult {
  if (answer.status !== 200) return unpaidResult({ ...answer, body: body.toString() })
  const meta = receiptsOf(answer.headers, call)
  if (typeof body !== 'string') return rawResult(answer.headers, body, meta)
  // Move the receipt to the metadata, because only programs need it and it would use tokens of the model.
  const { receipt = null, inclusionProof = null, ...content } = record.parse(JSON.parse(body))
  return jsonResult(content, false, { ...meta, 'tollbook/receipt': { receipt, inclusionProof } })
}

function receiptsOf(headers: Answer['headers'], { rails, meta }: AnsweredCall): JsonObject {
  const { 'receipt-location': location, 'tollbook-receipt': jws } = headers
  return Object.assign(
    {},
    ...rails.map((rail) => rail.meta?.receiptOf(headers, meta) ?? {}),
    location === undefined ? {} : { 'tollbook/receipt-location': location },
    jws === undefined ? {} : { 'tollbook/receipt-jws': jws },
    headers['idempotent-replay'] === 'true' ? { 'tollbook/replay': true } : {},
  )
}

/** Hosts can show text, pictures and sound. Other bytes become a resource with their media type. */
function rawResult(headers: Answer['headers'], bytes: Buffer, meta: JsonObject): CallToolResult {
  const { 'content-type': mimeType = '', 'receipt-location': location = '' } = headers
  const done = { isError: false, _meta: { ...meta } }
  if (/^(?:text\/|application\/(?:json|xml|x-ndjson|yaml)\b|[^;]*\+(?:json|xml)\b)/i.test(mimeType))
    return { ...done, content: [{ type: 'text', text: bytes.toString('utf8') }] }
  const data = bytes.toString('base64')
  const kind = /^(image|audio)\//i.exec(mimeType)?.[1]?.toLowerCase()
  if (kind === 'image' || kind === 'audio') return { ...done, content: [{ type: kind, data, mimeType }] }
  return { ...done, content: [{ type: 'resource', resource: { uri: `tollbook:${location}`, mimeType, blob: data } }] }
}

function unpaidResult({ status, headers, body, offer = [] }: Answer): CallToolResult {
  const own = record.parse(JSON.parse(body))
  const words = offer.map(({ toolWords }) => toolWords?.() ?? {})
  const meta: JsonObject = Object.assign({}, ...words.map((each) => each.meta ?? {}))
  const offered = words.find((each) => each.content !== undefined)?.content
  const retry = headers['retry-after']
  const waiting: JsonObject = retry === undefined ? {} : { 'tollbook/retry-after-seconds': Number(retry) }
  if (status !== 402 || offered === undefined) return jsonResult(own, true, { ...meta, ...waiting })
  return jsonResult(offered, true, { ...meta, 'tollbook/offer': own })
}
