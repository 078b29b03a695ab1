import { z } from 'zod'
import { refusalStatuses } from '../../src/paywall/answer.ts'
import type { EveryRail } from '../support/mppClient.ts'
import { toolResult } from '../support/toolResult.ts'

const version = '2026-07-28'
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'proof', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const codes = Object.keys(refusalStatuses)
const answered = z.object({ result: toolResult })
const refusal = z.looseObject({
  code: z.enum([...codes, 'PAYMENT_REQUIRED']).optional(),
  reason: z.string().optional(),
  error: z.string().optional(),
  data: z.unknown().optional(),
})

export interface BareCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

/** The request of one call without a client. */
export function toolRequest({ name, meta, arguments: values }: BareCall) {
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: values, _meta: { ...envelope, ...meta } },
    }),
  } as const
}

/** The result of a call, with the status that the same answer has over HTTP. */
export function readToolAnswer(answer: unknown) {
  const { result } = answered.parse(answer)
  const body = refusal.parse(result.structuredContent)
  const refused = Object.entries(refusalStatuses).find(([code]) => code === body.code)?.[1] ?? 402
  return { ...body, status: result.isError ? refused : 200, meta: result._meta }
}

/** One call of a tool without a client. */
export async function callTool(baseUrl: string, call: BareCall) {
  const { path, ...request } = toolRequest(call)
  const answer = readToolAnswer(await (await fetch(`${baseUrl}${path}`, request)).json())
  return { ...answer, isReplay: answer.meta['tollbook/replay'] === true }
}

const credentialShape = z.looseObject({ challenge: z.looseObject({ request: z.string() }) })

/** The same payment in each form that a call can carry: x402 as an object and in base64, MPP as an object. */
export function toolPayments({ mpp, x402 }: EveryRail['headers']): readonly BareCall['meta'][] {
  const text = x402['payment-signature']
  const read = (base64: string): unknown => JSON.parse(Buffer.from(base64, 'base64').toString())
  const credential = credentialShape.parse(read(mpp.authorization.replace(/^Payment /, '')))
  const challenge = { ...credential.challenge, request: read(credential.challenge.request) }
  return [
    { 'x402/payment': read(text) },
    { 'x402/payment': text },
    { 'org.paymentauth/credential': { ...credential, challenge } },
  ]
}
