import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { assert, assertPresent } from '@tollbook/core/assert'
import { openRoutes } from '../../src/gateway/openRoutes.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { Outcome } from '../../src/product/product.ts'
import { afterFile } from '../support/afterFile.ts'
import { type Asked, openLoopbackServer } from '../support/loopbackServer.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { shiftedClock } from '../support/shiftedClock.ts'

/* Tools of an MCP server that routes sell: with the current protocol, and with the sessions of the one before. */

const text = (said: string) => [{ type: 'text' as const, text: said }]
const results = new Map<string, object>([
  ['structured', { content: text('{"sum":7}'), structuredContent: { sum: 7, ok: true } }],
  ['unproven', { content: text('{"sum":7}'), structuredContent: { sum: 7 } }],
  ['plain', { content: text('seven') }],
  ['failing', { content: text('internal secret'), isError: true }],
  ['long', { content: text('x'.repeat(20_000)) }],
])
const calls: object[] = []

function createServer(): Server {
  const server = new Server({ name: 'adder', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [] }))
  server.setRequestHandler('tools/call', ({ params }) => {
    calls.push(params)
    return { content: [], ...assertPresent(results.get(params.name), 'the tool exists') }
  })
  return server
}

type Handle = (request: Request) => Promise<Response>

const current: Handle = createMcpHandler(createServer, { legacy: 'reject' }).fetch

/** Sessions of 2025-11-25: a request without one is refused, and so is the discovery of the current protocol. */
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

function withSessions(): Handle {
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    await createServer().connect(transport)
    return transport.handleRequest(request)
  }
}

async function answer(handle: Handle, { method, path, headers, body }: Asked, response: ServerResponse): Promise<void> {
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const request = new Request(`http://127.0.0.1${path}`, { method, headers: sent, ...(body === '' ? {} : { body }) })
  const answered = await handle(request)
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  response.end(Buffer.from(await answered.arrayBuffer()))
}

async function openUpstream(handle: Handle, clock: Clock = systemClock, path = '/v1/mcp') {
  const server = await openLoopbackServer((asked, response) => void answer(handle, asked, response))
  const file = join(await makeScratchDirectory(), 'tollbook.yaml')
  const parameters = '{ type: object, properties: { a: { type: integer } } }'
  const routes = [...results.keys()].map(
    (tool) =>
      `  - { path: /${tool}, summary: ${tool}, upstream: adder, tool: ${tool}, price: { usd: "0.01" }, parameters: ${parameters}${tool === 'unproven' ? ', success: { json: { pointer: /ok, equals: true } }' : ''} }`,
  )
  writeFileSync(
    file,
    `version: 1\nupstreams: { adder: { mcp: "${server.url}${path}", timeout: 20s, max_response: 8KiB, headers: { authorization: "Bearer \${KEY}" } } }\nroutes:\n${routes.join('\n')}\n`,
  )
  const read = readProductsFile(file, { readVariable: () => ({ value: 'operator-key' }), handlerTimeoutMs: 30_000 })
  const opened = openRoutes(read, {
    clock,
    log: silentLog,
    version: '0',
    isProbed: false,
    onCall: () => undefined,
  })
  afterFile(opened.close)
  const endpoints = opened.open(opened.products)
  const buy = async (tool: string, signal = new AbortController().signal): Promise<Outcome> => {
    const order = assertPresent(
      endpoints.find(({ path }) => path === `/${tool}`),
      'it is sold',
    ).read({ a: '7' })
    assert(order.ok, 'the order is valid')
    return order.deliver({ requestId: 'r', payer: 'wallet', payment: 'payment-1', signal })
  }
  return { server, buy }
}

describe.each([
  ['2026-07-28', current, '/v1/mcp'],
  ['2025-11-25 with sessions', withSessions(), '/v1/mcp/'],
] as const)('an upstream of %s', async (_version, handle, mcpPath) => {
  const { server, buy } = await openUpstream(handle, systemClock, mcpPath)

  test('is called once with the arguments of the order and the key of the payment, as the operator', async () => {
    calls.length = 0
    expect(await buy('structured')).toMatchObject({ kind: 'delivered', data: { sum: 7 }, meta: { source: 'adder' } })
    expect(calls).toMatchObject([
      { name: 'structured', arguments: { a: 7 }, _meta: { 'tollbook/payment': 'payment-1' } },
    ])
    for (const { path, method, headers } of server.asked)
      expect([path, headers.authorization, /POST|DELETE/.test(method)]).toEqual([mcpPath, 'Bearer operator-key', true])
    expect(sessions.size).toBe(0)
  })

  test('sells its content if it has no structured content', async () => {
    expect(await buy('plain')).toMatchObject({
      kind: 'delivered',
      data: { content: [{ type: 'text', text: 'seven' }] },
    })
  })

  test.each([
    ['a result that is an error', 'failing'],
    ['a result that does not show success', 'unproven'],
    ['a result above the limit', 'long'],
  ])('does not sell %s, and its words stay inside', async (_name, tool) => {
    const outcome = await buy(tool)
    expect(outcome).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    expect(JSON.stringify(outcome)).not.toContain('secret')
  })
})

test.each([
  [500, 'UPSTREAM_FAILED'],
  [401, 'UPSTREAM_FAILED'],
  [429, 'UPSTREAM_FAILED'],
  [307, 'UPSTREAM_FAILED'],
])('an upstream that answers HTTP %i is not sold, and no redirect is followed', async (status, code) => {
  const elsewhere = await openLoopbackServer((_asked, response) => void response.writeHead(200).end())
  const headers = { location: `${elsewhere.url}/mcp` }
  const { buy, server } = await openUpstream(() => Promise.resolve(new Response('', { status, headers })))
  expect(await buy('structured')).toMatchObject({ kind: 'failed', code })
  expect([server.asked.length > 0, elsewhere.asked.length]).toEqual([true, 0])
})

test('a result is sold a second later if the server does not end its session', async () => {
  const clock = shiftedClock()
  const handle = withSessions()
  const { buy } = await openUpstream((request) => {
    if (request.method !== 'DELETE') return handle(request)
    clock.advance(1_000)
    return new Promise(() => undefined)
  }, clock)
  expect(await buy('structured')).toMatchObject({ kind: 'delivered', data: { sum: 7 } })
})

test('an upstream that does not answer ends at the deadline of the attempt', async () => {
  const { buy } = await openUpstream(() => new Promise(() => undefined))
  expect(await buy('structured', AbortSignal.abort())).toMatchObject({ kind: 'failed' })
})

test.each([
  ['a route without a tool', '{ mcp: "http://a/mcp" }', 'to: /x', 'needs `tool`'],
  ['a tool of an API', '{ url: "http://a" }', 'tool: x', 'needs `to`'],
  ['both addresses', '{ url: "http://a", mcp: "http://a/mcp" }', 'tool: x', 'needs either `url` or `mcp`'],
  ['no address', '{}', 'to: /x', 'needs either `url` or `mcp`'],
  ['no input schema', '{ mcp: "http://a/mcp" }', 'tool: x', 'copy the input schema of the tool'],
])('the file is refused with %s', async (_name, upstream, target, mistake) => {
  const file = join(await makeScratchDirectory(), 'tollbook.yaml')
  writeFileSync(
    file,
    `version: 1\nupstreams: { a: ${upstream} }\nroutes:\n  - { path: /a, summary: A, upstream: a, ${target}, price: { usd: "0.01" } }\n`,
  )
  expect(() => readProductsFile(file, { readVariable: () => ({ problem: '' }), handlerTimeoutMs: 30_000 })).toThrow(
    mistake,
  )
})
