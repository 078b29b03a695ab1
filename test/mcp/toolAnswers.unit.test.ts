import { expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../src/document/jsonSchema.ts'
import { silentLog } from '../../src/machine/log.ts'
import { callPaidTool, type PaidCallDeps } from '../../src/mcp/callPaidTool.ts'
import { createFreeTools } from '../../src/mcp/freeTools.ts'
import { createMcp, type McpDeps } from '../../src/mcp/mcpProtocol.ts'
import { resultOf } from '../../src/mcp/toolResult.ts'
import { jsonAnswer } from '../../src/paywall/answer.ts'
import type { FreeRequest, FreeRoute } from '../../src/transport/freeRoute.ts'
import type { MessageCarrier } from '../../src/transport/messageRoute.ts'
import { scriptedEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestEndpoint } from '../support/testProduct.ts'

const facts = {
  requestId: 'r',
  limitQuotes: () => undefined,
  limitLookups: () => undefined,
  onClaimed: () => undefined,
}
const carrierOf = (paid: string[] = []): MessageCarrier => ({
  header: (name) => (name === 'host' ? 'api.example' : undefined),
  facts,
  onPaid: (endpoint) => void paid.push(endpoint),
})

/** A free tool whose route gives this answer. */
function freeTool(path: string, answer: ReturnType<typeof jsonAnswer>) {
  const asked: FreeRequest[] = []
  const route: FreeRoute = {
    path,
    serve(request) {
      asked.push(request)
      return Promise.resolve(answer)
    },
  }
  const [tool] = createFreeTools([route], new Map([['/api/data/crypto', 'data_crypto']]))
  const call = (values: JsonObject) => tool?.serve({ name: '', arguments: values, meta: {} }, carrierOf())
  return { asked, call }
}

test('a free tool sends its arguments as segment and query of its route, and refuses any others', async () => {
  const { asked, call } = freeTool('/api/receipts/:reference', jsonAnswer(200, '{"success":true}'))
  expect(await call({ reference: 'a/b?c', attempt: 'x&y' })).toMatchObject({
    isError: false,
    structuredContent: { success: true },
  })
  expect(asked).toMatchObject([{ segment: 'a%2Fb%3Fc', query: 'attempt=x%26y', host: 'api.example' }])
  for (const values of [
    {},
    { reference: 'a' },
    { reference: 'a', attempt: 'b', more: 'c' },
    { reference: 1, attempt: 'b' },
  ])
    expect(await call(values)).toMatchObject({ isError: true })
  expect(asked).toHaveLength(1)
})

test('the short catalog has the names of tools, and an error is passed on as it is', async () => {
  const product = {
    path: '/api/data/crypto',
    summary: 's',
    priceUSD: 1,
    requiredTokens: null,
    available: true,
    method: 'GET',
  }
  const body = { success: true, data: { products: [product], token: { symbol: 'T' }, paymentWallet: 'w' } }
  const { path: _path, method: _method, ...shown } = product
  expect((await freeTool('/api/catalog', jsonAnswer(200, JSON.stringify(body))).call({}))?.structuredContent).toEqual({
    products: [{ tool: 'data_crypto', ...shown }],
    token: { symbol: 'T' },
  })
  const refused = { error: 'no', code: 'OVERLOADED' }
  expect(await freeTool('/api/catalog', jsonAnswer(503, JSON.stringify(refused))).call({})).toMatchObject({
    isError: true,
    structuredContent: refused,
  })
})

const bodyOf = (name: string, meta: JsonObject = {}) =>
  Buffer.from(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: meta } }),
  )

test('a call counts as a proof if a rail finds a payment in it, and any other message as a read', () => {
  const rail = {
    meta: { headersOf: (meta: JsonObject) => ('pay' in meta ? { 'x-pay': 'yes' } : {}) },
    carriesProof: ({ header }: { header: (name: string) => string | undefined }) => header('x-pay') === 'yes',
  }
  // Reading a message needs nothing else of the service.
  const deps = {
    endpoints: [scriptedEndpoint().endpoint],
    freeRoutes: [],
    sales: { rails: [rail] },
    address: { url: () => '' },
  } as unknown as McpDeps
  const mcp = createMcp(deps)
  const read = (body: Buffer) => {
    const message = mcp.read(body)
    return 'purpose' in message ? [message.purpose, message.label] : message
  }
  expect(read(bodyOf('data_crypto'))).toEqual(['quote', 'mcp:data_crypto'])
  expect(read(bodyOf('data_crypto', { pay: 1 }))).toEqual(['proof', 'mcp:data_crypto'])
  expect(read(bodyOf('another', { pay: 1 }))).toEqual(['read', '/mcp'])
})

test('a paid answer is recorded under the path of its product, after a stream with its receipt', async () => {
  const endpoint = openTestEndpoint({
    path: '/toy/{id}',
    parameters: z.strictObject({ id: z.string() }),
    deliver: () => Promise.reject(new Error('not called')),
  })
  const streamed = {
    status: 200,
    headers: { 'content-type': 'text/plain' },
    chunks: (async function* chunks() {
      yield Buffer.from('one ')
      yield Buffer.from('two')
    })(),
    trailers: () => ({ 'tollbook-receipt': 'jws', 'idempotent-replay': 'true' }),
    dispatch: () => ({ markSent: () => undefined }),
  }
  const deps = { sales: { rails: [], sell: () => Promise.resolve(streamed) }, log: silentLog, findSold: () => endpoint }
  const paid: string[] = []
  const call = { name: 'toy_id', arguments: { id: '7' }, meta: {} }
  expect(
    await callPaidTool(deps as unknown as PaidCallDeps, endpoint, { call, carrier: carrierOf(paid) }),
  ).toMatchObject({
    isError: false,
    content: [{ type: 'text', text: 'one two' }],
    _meta: { 'tollbook/receipt-jws': 'jws', 'tollbook/replay': true },
  })
  expect(paid).toEqual(['/toy/{id}'])
})

test.each([
  ['image/png', { type: 'image', mimeType: 'image/png' }],
  ['Audio/MPEG', { type: 'audio', mimeType: 'Audio/MPEG' }],
  ['application/ld+json; charset=utf-8', { type: 'text', text: 'abc' }],
  ['application/pdf', { type: 'resource', resource: { uri: 'tollbook:/api/receipts/x', mimeType: 'application/pdf' } }],
])('bytes of %s become the content that hosts can show', (type, content) => {
  const headers = { 'content-type': type, 'receipt-location': '/api/receipts/x' }
  const result = resultOf({ status: 200, headers, body: Buffer.from('abc') }, { rails: [], meta: {} })
  expect(result.content).toMatchObject([content])
  expect(JSON.stringify(result.content)).toContain(
    content.type === 'text' ? 'abc' : Buffer.from('abc').toString('base64'),
  )
})
