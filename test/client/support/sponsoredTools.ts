import { z } from 'zod'
import { type Asked, openLoopbackServer } from '../../support/loopbackServer.ts'

/*
 * A tool of MCP before a service of x402 or MPP: it translates between `_meta` and headers, and shares no code with the
 * client. The tool shares the misdeeds of the service.
 */

const call = z.object({ id: z.unknown(), params: z.object({ _meta: z.record(z.string(), z.unknown()).default({}) }) })
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64').toString())
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const credential = z.looseObject({ challenge: z.looseObject({ request: z.record(z.string(), z.unknown()) }) })

function paymentOf(meta: Record<string, unknown>): Record<string, string> {
  const { 'x402/payment': x402, 'org.paymentauth/credential': mpp } = meta
  if (x402 !== undefined) return { 'payment-signature': encode(x402) }
  if (mpp === undefined) return {}
  const { challenge, ...rest } = credential.parse(mpp)
  const header = { ...rest, challenge: { ...challenge, request: encode(challenge.request) } }
  return { authorization: `Payment ${encode(header)}` }
}

function offerOf(headers: Headers): object {
  const x402 = headers.get('payment-required')
  if (x402 !== null) return { isError: true, content: [], structuredContent: decode(x402) }
  const parameters = [...(headers.get('www-authenticate') ?? '').matchAll(/(\w+)="([^"\\]*)"/g)]
  const { request = '', ...rest } = Object.fromEntries(parameters.map(([, name = '', value = '']) => [name, value]))
  const challenge = { ...rest, request: decode(request) }
  return {
    isError: true,
    content: [],
    _meta: { 'org.paymentauth/payment-required': { httpStatus: 402, challenges: [challenge] } },
  }
}

function receiptOf(headers: Headers): object {
  const [x402, mpp] = [headers.get('payment-response'), headers.get('payment-receipt')]
  return {
    ...(x402 === null ? {} : { 'x402/payment-response': decode(x402) }),
    ...(mpp === null ? {} : { 'org.paymentauth/receipt': decode(mpp) }),
  }
}

async function resultOf(response: Response): Promise<object> {
  if (response.status === 402) return offerOf(response.headers)
  const content = [{ type: 'text', text: await response.text() }]
  return { isError: response.status !== 200, content, _meta: receiptOf(response.headers) }
}

export interface SponsoredTools {
  readonly url: string
  readonly asked: readonly Asked[]
}

export async function openSponsoredTools(service: string): Promise<SponsoredTools> {
  const { url, asked } = await openLoopbackServer(({ body }, response) => {
    void (async () => {
      const { id, params } = call.parse(JSON.parse(body))
      const answer = await fetch(service, { headers: paymentOf(params._meta), redirect: 'manual' })
      // Such an answer is that of a gateway on the way, and no message of MCP.
      if (answer.status >= 500 || answer.status === 307)
        return response.writeHead(answer.status, { location: answer.headers.get('location') ?? '' }).end()
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: await resultOf(answer) }))
    })().catch(() => response.destroy())
  })
  return { url, asked }
}

/** A call of the tool without a client of MCP. */
export const toolCall = (meta: object = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'buy', arguments: {}, _meta: meta },
  }),
})
