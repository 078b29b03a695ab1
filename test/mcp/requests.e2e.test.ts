import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openTestService, type TestService } from '../support/testService.ts'
import { rawRequest } from '../transport/rawRequest.ts'

/* Requests to `POST /mcp` below the level of a client: names, methods, framing and protocol versions. */

let service: TestService

beforeAll(async () => {
  service = await openTestService({ env: { PUBLIC_URL: 'https://api.tollbook.example' } })
})

const current = '2026-07-28'
const envelope = {
  'io.modelcontextprotocol/protocolVersion': current,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const message = (method: string, params: Readonly<Record<string, unknown>> = {}) => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params: { ...params, _meta: { ...envelope, ...Object(params['_meta']) } },
})
const list = message('tools/list')
const headersFor = (method: string, name?: string) => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': current,
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
})

async function post(
  body: unknown,
  headers: Readonly<Record<string, string>> = headersFor('tools/list'),
  method = 'POST',
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return rawRequest(Number(new URL(service.baseUrl).port), { method, target: '/mcp', headers, body: text })
}

const failure = z.object({ error: z.object({ code: z.int(), message: z.string() }) })

describe('a request', () => {
  test.each(['127.0.0.1', 'localhost:3000', '[::1]', 'api.tollbook.example', 'api.tollbook.example:8443'])(
    'to the host %s is served',
    async (host) => expect((await post(list, { ...headersFor('tools/list'), host })).status).toBe(200),
  )

  test.each([
    ['host', 'attacker.example'],
    ['host', 'tollbook.example'],
    ['host', 'api.tollbook.example.attacker.example'],
    ['host', 'localhost.attacker.example'],
    ['host', '169.254.169.254'],
    ['origin', 'https://attacker.example'],
    ['origin', 'http://localhost.attacker.example'],
    ['origin', 'null'],
    ['origin', 'file://'],
  ])('with the %s %s is refused', async (name, value) => {
    const { status, text } = await post(list, { host: '127.0.0.1', ...headersFor('tools/list'), [name]: value })
    expect(status).toBe(403)
    expect(text).not.toContain('tools_qrcode')
  })

  test('with the origin of the service is served', async () => {
    const origin = 'https://api.tollbook.example'
    expect((await post(list, { ...headersFor('tools/list'), origin })).status).toBe(200)
  })

  test.each(['GET', 'DELETE', 'PUT', 'HEAD'])('by %s is refused', async (method) => {
    const { status, headers } = await post('', {}, method)
    expect([status, headers['allow']]).toEqual([405, 'POST'])
  })

  test.each([
    ['a batch', [list, list], -32_600],
    ['no JSON', '{', -32_700],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', -32_700],
  ])('with %s is refused', async (_name, body, code) => {
    const { status, body: answer } = await post(body)
    expect([status, failure.parse(answer).error.code]).toEqual([400, code])
  })

  test('with a body above the limit is refused before it is read', async () => {
    expect((await post('', { ...headersFor('tools/list'), 'content-length': '99999999' })).status).toBe(413)
  })

  test('of another media type is refused', async () => {
    expect((await post(list, { ...headersFor('tools/list'), 'content-type': 'text/plain' })).status).toBe(415)
  })
})

describe('the protocol version', () => {
  test.each([
    ['that is unknown', { 'mcp-protocol-version': '2031-01-01' }],
    ['that differs from the envelope', { 'mcp-protocol-version': '2025-11-25' }],
  ])('%s is refused', async (_name, headers) => {
    expect((await post(list, { ...headersFor('tools/list'), ...headers })).status).toBe(400)
  })

  test('of a method that differs from the header is refused', async () => {
    expect((await post(list, headersFor('tools/call'))).status).toBe(400)
  })
})

test('a subscription ends with an error instead of an open stream', async () => {
  const { body } = await post(
    message('subscriptions/listen', { notifications: {} }),
    headersFor('subscriptions/listen'),
  )
  expect(failure.parse(body).error.message).toMatch(/limit/i)
})

test.each([
  ['an unknown tool', { name: 'no_such_tool' }],
  ['arguments that are a list', { name: 'tools_qrcode', arguments: [] }],
  ['arguments without a UTF-8 form', { name: 'tools_qrcode', arguments: { data: '\uD800' } }],
  [
    'a payment without a UTF-8 form',
    { name: 'tools_qrcode', _meta: { 'org.paymentauth/credential': { a: '\uD800' } } },
  ],
])('a call of %s is an error of the protocol', async (_name, params) => {
  const { body } = await post(message('tools/call', params), headersFor('tools/call', params.name))
  expect(failure.parse(body).error.code).toBe(-32_602)
})

test('a caller without a rail is told to name its wallet', async () => {
  const { body } = await post(
    message('tools/call', { name: 'tools_qrcode', arguments: { data: 'x' } }),
    headersFor('tools/call', 'tools_qrcode'),
  )
  expect(body).toMatchObject({ result: { isError: true, structuredContent: { code: 'NO_WALLET' } } })
})
