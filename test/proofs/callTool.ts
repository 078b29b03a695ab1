import { z } from 'zod'
import { refusalStatuses } from '../../src/paywall/answer.ts'
import type { EveryRail } from '../support/mppClient.ts'
import { toolResult } from '../support/mcpClient.ts'

const version = '2026-07-28'
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'proof', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const codes = Object.keys(refusalStatuses)
const answered = z.object({ result: toolResult })
const refusal = z.looseObject({
  code: z.enum(codes).optional(),
  reason: z.string().optional(),
  error: z.string().optional(),
  data: z.unknown().optional(),
})

export interface BareCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

/** One call of a tool without a client, with the status that the same answer has over HTTP. */
export async function callTool(baseUrl: string, { name, meta, arguments: values }: BareCall) {
  const response = await fetch(`${baseUrl}/mcp`, {
    method: 'POST',
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
  })
  const { result } = answered.parse(await response.json())
  const body = refusal.parse(result.structuredContent)
  const refused = Object.entries(refusalStatuses).find(([code]) => code === body.code)?.[1] ?? 402
  return { ...body, status: result.isError ? refused : 200, isReplay: result._meta['tollbook/replay'] === true }
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
