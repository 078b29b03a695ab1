import { z } from 'zod'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { utf8Text } from '@tollbook/core/bytes'
import { parseJson } from '@tollbook/core/json'
import type { PayableRequest } from '../payableRequest.ts'
import { plainHeaders } from '../presentPayment.ts'
import { isEventStream } from '../judgeAnswer.ts'
import { readBody } from '../readBody.ts'
import type { Fetch } from '../solanaRpc.ts'
import { readToolOffers, settledHeaders } from '../sponsored/toolOffer.ts'
import { readCall, readWrittenCall, record, writeCall } from './callBody.ts'

/*
 * Pays MCP tool calls like HTTP requests. The headers of a payment are sent in `_meta`, and a result is converted to
 * the answer of the same HTTP request.
 */

type Pay = (request: PayableRequest) => Promise<Response>

const keyMember = 'tollbook/idempotency-key'
// Members that differ in each call. Remove them, because otherwise a repeated call would be another request and be paid
// again.
const perCall = new Set(['progressToken', 'traceparent', 'tracestate', 'baggage'])

/** Pays for the request. For a tool call, the response contains the result as a JSON-RPC message with the caller's id. */
export async function payToolCall(request: PayableRequest, pay: Pay): Promise<Response> {
  const { method, bodyBase64 = '', headers } = request.content
  const text = method === 'POST' ? utf8Text(readBase64(bodyBase64) ?? new Uint8Array()) : ''
  const call = readCall(text)
  if (call === undefined) return pay(request)
  const { _meta, ...params } = call.params
  const { [keyMember]: key, ...given } = _meta
  const meta = Object.fromEntries(Object.entries(given).filter(([name]) => !perCall.has(name)))
  const accept: [string, string] = ['accept', 'application/json, text/event-stream']
  const content = {
    ...request.content,
    headers: headers.some(([name]) => name === 'accept') ? headers : [...headers, accept],
    bodyBase64: encodeBase64(writeCall({ ...params, _meta: meta })),
  }
  const idempotencyKey = request.idempotencyKey ?? (typeof key === 'string' ? key : undefined)
  const tool = { name: params.name, arguments: params.arguments }
  return resultFor(await pay({ ...request, content, idempotencyKey, tool }), call.id)
}

const message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
})

async function resultFor(answer: Response, id: string | number): Promise<Response> {
  const text = await answer.text()
  const { status, headers } = answer
  const { data } = message.safeParse(parseJson(text))
  if (data === undefined) return new Response(text || null, { status, headers })
  const { jsonrpc, result, error } = data
  const isResult = result !== undefined
  const restored = { jsonrpc, id, ...(isResult ? { result } : { error }) }
  // Return a JSON-RPC error with status 200 instead of 402, because MCP clients do not read the body of a 402.
  const given = isResult || status === 402 ? 200 : status
  return new Response(JSON.stringify(restored), { status: given, headers: plainHeaders(headers) })
}

const words = {
  'x-wallet-address': 'tollbook/wallet',
  'x-payment-proof': 'tollbook/payment-proof',
  'idempotency-key': keyMember,
} as const

/**
 * Moves the payment headers of a tool call to `_meta`, and converts its result to an HTTP answer. Other requests pass
 * unchanged.
 */
export function carryToolCalls(fetch: Fetch): Fetch {
  return async (input, init) => {
    const call = init?.body instanceof Uint8Array ? readWrittenCall(init.body) : undefined
    if (call === undefined) return fetch(input, init)
    const { params } = call
    const headers = new Headers(init?.headers)
    const paid = Object.entries(words).flatMap(([header, member]) => {
      const value = headers.get(header)
      headers.delete(header)
      return value === null ? [] : [[member, value] as const]
    })
    const _meta = { ...params._meta, ...Object.fromEntries(paid) }
    const body = Uint8Array.from(writeCall({ ...params, _meta }))
    return answerOf(await fetch(input, { ...init, headers, body }))
  }
}

const resultMessage = z.looseObject({
  result: z.looseObject({
    isError: z.boolean().optional(),
    structuredContent: record.optional(),
    _meta: z
      .looseObject({
        'tollbook/offer': record.exactOptional(),
        'tollbook/receipt': z.object({ receipt: z.json() }).exactOptional(),
        'tollbook/receipt-location': z.string().exactOptional(),
        'tollbook/retry-after-seconds': z.int().exactOptional(),
      })
      .optional(),
  }),
})

const resultBytesMax = 16 * 1024 * 1024

// Statuses of refusals that the payer handles separately. Other refusals without an offer and without a wait get 400.
const statuses = new Map<unknown, number>([['IDEMPOTENCY_KEY_REUSED', 422]])

async function answerOf(response: Response): Promise<Response> {
  const { status, body } = response
  if (body === null) return response
  const bytes = await readBody(response, resultBytesMax)
  const headers = plainHeaders(response.headers)
  if (status !== 200) return new Response(bytes, { status, headers })
  const text = utf8Text(bytes)
  const texts = isEventStream(headers) ? [...text.matchAll(/^data:(.*)$/gm)].map(([, line = '']) => line) : [text]
  const last = parseJson(texts.at(-1) ?? '')
  const { data } = resultMessage.safeParse(last)
  const isOffer = readToolOffers(last) !== undefined
  if (data === undefined && !isOffer) return new Response(bytes, { headers })
  headers.set('content-type', 'application/json')
  if (data === undefined) return new Response(JSON.stringify(last), { status: 402, headers })
  const { isError = false, structuredContent = {}, _meta: meta = {} } = data.result
  const wait = meta['tollbook/retry-after-seconds']
  if (isError || isOffer) {
    const own = meta['tollbook/offer'] ?? structuredContent
    if (wait !== undefined) headers.set('retry-after', String(wait))
    const isUnpaid = isOffer || own['code'] === 'PAYMENT_REQUIRED'
    const status = isUnpaid ? 402 : wait === undefined ? (statuses.get(own['code']) ?? 400) : 503
    return new Response(JSON.stringify({ ...own, ...data }), { status, headers })
  }
  const location = meta['tollbook/receipt-location']
  if (location !== undefined) headers.set('receipt-location', location)
  for (const [name, value] of settledHeaders(meta)) headers.set(name, value)
  const receipt = meta['tollbook/receipt']?.receipt
  return new Response(JSON.stringify({ ...data, success: true, receipt }), { headers })
}
