import { connect } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { ask, askForQuote, buy, qrOrder } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { requestCalls } from '../support/requestCalls.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'

let service: TestService
beforeAll(async () => {
  service = await openTestService({ nodes: 2 })
})

const get = (path: string, init: RequestInit = {}) => fetch(`${service.baseUrl}${path}`, init)

describe('free routes', () => {
  test('need no wallet, and answer in the envelope', async () => {
    const health = await ask(service, { path: '/api/health' })
    expect(health).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          status: 'ok',
          version: '0.2.0',
          checks: { ledger: { status: 'ok' }, chain: { status: 'ok' }, tokenAccount: { status: 'ok' } },
        },
      },
    })
    expect(await ask(service, { path: '/api/token/price' })).toMatchObject({
      status: 200,
      body: { data: { priceUSD: 0.001, source: 'fixed', decimals: 6 } },
    })
    expect((await get('/api/token/burn-stats')).status).toBe(200)
    expect((await get('/livez')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(200)
  })

  test('fault 19: health names rendering when no browser starts, and all other products are sold', async () => {
    const chromium = `${await makeScratchDirectory()}/chromium`
    await writeFile(chromium, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const without = await openTestService({
      besides: service,
      env: { RENDER_CONCURRENCY: '1', CHROMIUM_PATH: chromium },
    })
    const problem = 'no browser can be started on this server at the moment'
    await awaitThat('the browser could not be started', async () =>
      JSON.stringify((await ask(without, { path: '/api/health' })).body).includes(problem),
    )
    const health = await ask(without, { path: '/api/health' })
    expect(health).toMatchObject({
      status: 200,
      body: { data: { status: 'degraded', checks: { rendering: { status: 'failing', problem } } } },
    })
    expect((await ask(without, { path: '/readyz' })).status).toBe(200)
    expect((await ask(without, qrOrder)).status).toBe(402)
    const picture = { path: '/api/tools/screenshot', body: { url: 'https://example.com/' } }
    expect(await ask(without, picture)).toMatchObject({ status: 503, body: { code: 'ENDPOINT_UNAVAILABLE' } })
  })

  test('answer HEAD with the headers of GET, which a paid route does not', async () => {
    expect((await get('/api/health', { method: 'HEAD' })).status).toBe(200)
    expect((await get('/api/tools/qrcode', { method: 'HEAD' })).status).toBe(405)
  })

  test('a proof sent to them by mistake is not looked at', async () => {
    service.chain.forgetRequestCounts()
    expect((await ask(service, { path: '/api/token/price', proof: 'garbage' })).status).toBe(200)
    expect(service.chain.requestCounts().get('getTransaction') ?? 0).toBe(0)
  })

  test('burn statistics name totals, spans, endpoints and days', async () => {
    await buy(service)
    const burned = { tokens: 1.5, baseUnits: '1500000', payments: 1 }
    // They may be a second old.
    let body: unknown
    await awaitThat('the sale is counted', async () => {
      body = (await ask(service, { path: '/api/token/burn-stats' })).body
      return JSON.stringify(body).includes('"payments":1')
    })
    expect(body).toMatchObject({
      success: true,
      data: {
        total: burned,
        last24Hours: burned,
        last7Days: burned,
        last30Days: burned,
        byEndpoint: [{ endpoint: '/api/tools/qrcode', ...burned }],
        byDay: [burned],
        owed: { tokens: 0, baseUnits: '0' },
      },
    })
  })
})

describe('metrics', () => {
  test('count requests by route and status, and unknown paths do not create series', async () => {
    await get('/api/nope-1')
    const exposed = await (await get('/metrics')).text()
    expect(exposed).toMatch(/tollbook_http_requests_total\{route="\/api\/health",status="200"\} \d+/)
    expect(exposed).toContain('tollbook_rpc_calls_total')
    expect(exposed).not.toContain('nope')
  })

  test("are not available outside the operator's subnets", async () => {
    const closed = await openTestService({ besides: service, env: { METRICS_SUBNETS: '192.0.2.0/24' } })
    expect((await fetch(`${closed.baseUrl}/metrics`)).status).toBe(404)
    await closed.close()
  })
})

describe('limits', () => {
  test('too many requests of one client get the time to retry', async () => {
    const limited = await openTestService({ besides: service, env: { RATE_LIMIT_PER_MINUTE: '2' } })
    const statuses = []
    for (let request = 0; request < 3; request++) statuses.push((await ask(limited, qrOrder)).status)
    expect(statuses).toEqual([402, 402, 429])
    const refused = await ask(limited, qrOrder)
    expect(refused.body).toMatchObject({ code: 'RATE_LIMITED' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await limited.close()
  })

  test('health has its own listener when HEALTH_PORT says so, and nothing else is served there', async () => {
    const apart = await openTestService({ besides: service, env: { HEALTH_PORT: '0' } })
    const statusOf = async (path: string) => (await fetch(`${apart.healthUrl}${path}`)).status
    expect(await Promise.all(['/livez', '/readyz', '/metrics', '/api/catalog'].map(statusOf))).toEqual([
      200, 200, 200, 404,
    ])
    await apart.close()
  })

  test('two Host headers are refused', async () => {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    socket.end('GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400/)
  })
})

describe('the yardstick', () => {
  test('a confirmed payment in signature form costs one call to the chain', async () => {
    // The elected jobs run on the first instance, so the node of another one sees only what its requests ask.
    const node = assertPresent(service.chain.nodes[1], 'the chain has a second node')
    const measured = await openTestService({ besides: service, env: { SOLANA_RPC_URLS: node.rpcUrl } })
    const proof = await service.payer.pay(await askForQuote(measured))
    node.forgetRequestCounts()
    expect((await ask(measured, { ...qrOrder, proof })).status).toBe(200)
    expect(requestCalls(node)).toEqual([['getTransaction', 1]])
    await measured.close()
  })
})
