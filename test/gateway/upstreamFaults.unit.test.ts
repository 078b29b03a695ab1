import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '@tollbook/core/clock'
import { assert, assertPresent } from '@tollbook/core/assert'
import { openRoutes } from '../../src/gateway/openRoutes.ts'
import { readProductsFile } from '../../src/gateway/readProductsFile.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { Outcome } from '../../src/product/product.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import {
  csvBody,
  faults,
  honest,
  honestStream,
  honestCsv,
  honestText,
  jsonBody,
  oddMediaType,
  openFailingUpstream,
  smuggled,
  streamFaults,
  unfinishedFailure,
  withCookies,
} from './failingUpstream.ts'

/* One upstream of which a route buys answers: honest ones are sold unchanged, and no failure is. */

const upstream = await openFailingUpstream()
afterFile(upstream.close)
const file = join(await makeScratchDirectory(), 'tollbook.yaml')
writeFileSync(
  file,
  `
version: 1
upstreams:
  a: { url: "${upstream.url}", timeout: 10s, silence: 10s, max_response: 8KiB }
  single: { url: "${upstream.url}", timeout: 10s, concurrency: 1, pace: { requests: 2, per: 1m } }
  paced: { url: "${upstream.url}", concurrency: 1, pace: { requests: 2, per: 1m } }
routes:
  - path: /item
    summary: An item
    upstream: a
    to: /item
    price: { usd: "0.01" }
    content_types: [application/json, text/csv]
    success: { json: { pointer: /ok, equals: true } }
    stream: passthrough
    forward: { response: [etag] }
  - { path: /table, summary: A table, upstream: a, to: /t, price: { usd: "0.01" }, content_types: [text/*] }
  - path: /ended
    summary: A table with an end
    upstream: a
    to: /t
    price: { usd: "0.01" }
    content_types: [text/*]
    success: { ends_with: END }
  - { path: /data, summary: Data, upstream: a, to: /data, price: { usd: "0.01" }, answer: envelope }
  - { path: /small, summary: Small, upstream: a, to: /data, price: { usd: "0.01" }, max_response: 1KiB }
  - { path: /paced, summary: At a pace, upstream: paced, to: /data, price: { usd: "0.01" } }
  - { path: /again, summary: Again, upstream: single, to: /item, price: { usd: "0.01" }, idempotent: true }
  - path: /stream
    summary: A stream
    upstream: a
    to: /stream
    price: { usd: "0.01" }
    success: { ends_with: "data: [DONE]" }
    stream: passthrough
`,
)
const clock = shiftedClock()
const deps = { clock, log: silentLog, version: '0', isProbed: false, onCall: () => undefined }

/** Endpoints with a new breaker, so that one case does not close the next. */
function openEndpoints(ownClock: Clock = clock) {
  const read = readProductsFile(file, { readVariable: () => ({ problem: 'is not set' }), handlerTimeoutMs: 30_000 })
  const routes = openRoutes(read, { ...deps, clock: ownClock })
  afterFile(routes.close)
  const endpoints = routes.open(routes.products)
  return {
    ask: (path: string) =>
      deliver(
        assertPresent(
          endpoints.find((one) => one.path === path),
          'it is sold',
        ),
      ),
    endpoints,
  }
}

function deliver(endpoint: ReturnType<ReturnType<typeof openRoutes>['open']>[number]): Promise<Outcome> {
  const order = endpoint.read({})
  assert(order.ok, 'the order is valid')
  const signal = new AbortController().signal
  return order.deliver({ signal, requestId: 'request', payer: 'payer', payment: 'payment' })
}

async function textOf(outcome: Outcome): Promise<string> {
  if (outcome.kind === 'raw') return Buffer.from(outcome.bytes).toString()
  assert(outcome.kind === 'stream', `the answer is sold (${JSON.stringify(outcome)})`)
  const parts: Uint8Array[] = []
  for await (const part of outcome.chunks) parts.push(part)
  return Buffer.concat(parts).toString()
}

let open = openEndpoints()
beforeEach(() => {
  open = openEndpoints()
})

/** Lets time pass quickly from the answer to the end of the connection. */
const passing = (answer: (socket: Socket) => void) => (socket: Socket) => {
  answer(socket)
  const timer = setInterval(() => clock.advance(1_000), 5)
  socket.once('close', () => clearInterval(timer))
}

test.each(Object.entries(faults))('%s is not sold', async (_name, { answer, code }) => {
  upstream.answer(code === 'UPSTREAM_TIMEOUT' ? passing(answer) : answer)
  expect(await open.ask('/item')).toMatchObject({ kind: 'failed', code })
  upstream.answer(honest)
})

test.each(Object.entries(streamFaults))('%s breaks', async (name, answer) => {
  upstream.answer(name.endsWith('silent') ? passing(answer) : answer)
  const outcome = await open.ask('/stream')
  await expect(textOf(outcome)).rejects.toThrow()
})

test('an upstream is asked at its pace at most, and its routes are closed meanwhile', async () => {
  const held = shiftedClock()
  held.hold(true)
  const { ask, endpoints } = openEndpoints(held)
  const whyNot = () => endpoints.find(({ path }) => path === '/paced')?.whyUnavailable()
  upstream.answer(honest)
  expect([(await ask('/paced')).kind, whyNot()]).toEqual(['raw', undefined])
  expect([(await ask('/paced')).kind, whyNot()]).toEqual(['raw', expect.stringContaining('as often as it allows')])
  // Paid for before the pace was full.
  expect(await ask('/paced')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  held.advance(60_000)
  expect([whyNot(), (await ask('/paced')).kind]).toEqual([undefined, 'raw'])
})

test('an answer that is refused unread gives its connection to the next request', async () => {
  upstream.answer(unfinishedFailure)
  expect(await open.ask('/again')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  upstream.answer(honest)
  expect(await textOf(await open.ask('/again'))).toBe(honestText)
})

test('a request that may be repeated is sent twice if the connection breaks, and once if the time is over', async () => {
  const before = upstream.requests()
  upstream.answer((socket) => {
    upstream.answer(honest)
    socket.resetAndDestroy()
  })
  expect(await textOf(await open.ask('/again'))).toBe(honestText)
  expect(upstream.requests() - before).toBe(2)

  open = openEndpoints()
  const whyNot = () => open.endpoints.find(({ path }) => path === '/again')?.whyUnavailable()
  upstream.answer(passing(() => undefined))
  expect(await open.ask('/again')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
  expect(whyNot(), 'one of two requests is left').toBeUndefined()
  upstream.answer(honest)
})

test('the limit of a route is smaller than that of its upstream', async () => {
  upstream.answer(jsonBody(JSON.stringify('x'.repeat(2_000))))
  expect([(await open.ask('/data')).kind, (await open.ask('/small')).kind]).toEqual(['delivered', 'failed'])
})

test('a text is sold if it has an end, and not where the rule needs JSON', async () => {
  upstream.answer(honestCsv)
  expect(await textOf(await open.ask('/table'))).toBe('a,b\n')
  expect(await open.ask('/item')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
})

test('a long text is sold if it ends with its end, and not if it begins with it', async () => {
  const rows = 'a,b\n'.repeat(1_000)
  upstream.answer(csvBody(`${rows}END\n`))
  expect(await open.ask('/ended')).toMatchObject({ kind: 'raw' })
  upstream.answer(csvBody(`END\n${rows}`))
  expect(await open.ask('/ended')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
})

describe('an honest answer', () => {
  test('in an envelope is data', async () => {
    upstream.answer(honest)
    expect(await open.ask('/data')).toMatchObject({ kind: 'delivered', data: JSON.parse(honestText) })
    for (const text of ['{"a":"\\ud800"}', '{"\\ud800":1}', '[1e999]']) {
      upstream.answer(jsonBody(text))
      expect(await open.ask('/data')).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
    }
  })

  test('is sold unchanged, whole or as a stream', async () => {
    upstream.answer(honest)
    expect(await textOf(await open.ask('/item'))).toBe(honestText)
    upstream.answer(honestStream)
    expect(await open.ask('/stream')).toMatchObject({ kind: 'stream', contentType: 'text/event-stream' })
    expect(await textOf(await open.ask('/stream'))).toBe('data: 1\n\ndata: [DONE]\n\n')
  })

  test('brings no header of the upstream with it but those that the route names', async () => {
    upstream.answer(withCookies)
    expect(await open.ask('/item')).toEqual({
      kind: 'raw',
      contentType: 'application/json',
      bytes: Buffer.from(honestText),
      headers: { etag: '"1"' },
      meta: { source: 'a', asOf: expect.any(String), cached: false },
    })
  })

  test('loses a header and a media type that are not printable ASCII', async () => {
    upstream.answer(jsonBody(honestText, 'etag: "é"'))
    expect(await open.ask('/item')).toMatchObject({ kind: 'raw', headers: {} })
    upstream.answer(oddMediaType)
    expect(await open.ask('/table')).toMatchObject({ kind: 'raw', contentType: 'application/octet-stream' })
  })

  test('is not replaced by an answer without a request', async () => {
    upstream.answer(smuggled)
    for (let round = 0; round < 20; round++) expect(await textOf(await open.ask('/item'))).toBe(honestText)
  })
})

test('a host that does not listen is unavailable after five failures, before a price is asked', async () => {
  const dead = await openFailingUpstream()
  await dead.close()
  writeFileSync(
    `${file}.dead`,
    `version: 1\nupstreams: { a: { url: "${dead.url}" } }\nroutes: [{ path: /x, summary: X, upstream: a, to: /x, price: { usd: 1 } }]\n`,
  )
  const read = readProductsFile(`${file}.dead`, { readVariable: () => ({ problem: '' }), handlerTimeoutMs: 30_000 })
  const routes = openRoutes(read, deps)
  const [endpoint] = routes.open(routes.products)
  const known = assertPresent(endpoint, 'it is sold')
  for (let failure = 1; failure <= 5; failure++) {
    expect(known.whyUnavailable()).toBeUndefined()
    expect(await deliver(known)).toMatchObject({ kind: 'failed', code: 'UPSTREAM_FAILED' })
  }
  expect(known.whyUnavailable()).toMatch(/left alone/)
})

test('one order that makes the upstream fail does not close it for others', async () => {
  upstream.answer(honest)
  await open.ask('/stream')
  upstream.answer(assertPresent(faults['status 500'], 'it is a fault').answer)
  for (let failure = 1; failure <= 20; failure++) expect(await open.ask('/item')).toMatchObject({ kind: 'failed' })
  expect(open.endpoints[1]?.whyUnavailable()).toBeUndefined()
})
