import { Writable } from 'node:stream'
import { validateAndExtract, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Fault } from '@tollbook/core/fault'
import { quoteBody } from '@tollbook/core/wire'
import type { Job, Outcome } from '../../src/product/product.ts'
import { queryInteger } from '../../src/product/text.ts'
import type { PaymentRail } from '../../src/paywall/rail.ts'
import { createLog } from '../../src/machine/log.ts'
import { chunksOf, meta, streams } from '../e2e/streamedAnswer.ts'
import {
  currentClient,
  earlierClient,
  mppToolClient,
  payX402,
  type ToolClient,
  type Wallet,
  x402Forms,
} from '../support/mcpClient.ts'
import { delivers, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestEndpoint } from '../support/testProduct.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { devnet, openX402Service, stockFetch, type X402Service } from '../support/x402Service.ts'

/* Purchases by stock clients through `POST /mcp`. */

let nextOutcome: ((job: Job) => Promise<Outcome>) | undefined
let runs = 0
const news = openTestEndpoint({
  path: '/api/data/news',
  parameters: z.strictObject({ query: z.string(), limit: queryInteger({ min: 1, max: 50, default: 10 }) }),
  deliver(parameters, job) {
    runs++
    const scripted = nextOutcome
    nextOutcome = undefined
    return scripted === undefined ? Promise.resolve({ ...delivers, data: parameters }) : scripted(job)
  },
})

let isUnknown = false
const withUnknownOutcomes = (rails: readonly PaymentRail[]): readonly PaymentRail[] =>
  rails.map((rail) => ({
    ...rail,
    settle: (question) =>
      isUnknown ? Promise.reject(new Fault('no node answers', { retryable: true })) : rail.settle(question),
  }))

const logged: string[] = []
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    logged.push(chunk.toString())
    done()
  },
})

let opened: X402Service
let other: TestService
let client: ToolClient
let wallet: Wallet

beforeAll(async () => {
  const log = createLog({ level: 'debug', name: 'test', destination })
  const endpoints = withEndpoint({ endpoint: news })
  // A busy machine confirms a payment late, and a test does not repeat its calls.
  const sale = { proofLookupWaitMs: 20_000 }
  opened = await openX402Service({ seams: { endpoints, rails: withUnknownOutcomes }, log, sale })
  const { service, tokenMint, env } = opened
  other = await openTestService({ besides: service, env, seams: { endpoints }, sale })
  wallet = { wallet: service.demoWallet, rpcUrl: service.chain.rpcUrl, asset: tokenMint }
  client = await currentClient(service.baseUrl, 'auto')
})

/*
 * Each test orders something else. A wallet that buys an order again gets the earlier answer, uncharged, until all
 * instances have read that it was sent. The other instance records that after 250 ms or, under load, later.
 */
let orders = 0
let order = { query: '', limit: 3 }
let call = { name: 'data_news', arguments: order }
let qrCall = { name: 'tools_qrcode', arguments: { data: '' } }
beforeEach(() => {
  const text = `order-${++orders}`
  order = { query: text, limit: 3 }
  call = { name: 'data_news', arguments: order }
  qrCall = { name: 'tools_qrcode', arguments: { data: text } }
})
const newsUrl = (baseUrl: string) => `${baseUrl}/api/data/news?query=${order.query}&limit=${order.limit}`
const sign = async (asked = call) => payX402(await client.callTool(asked), wallet)
const paying = (payment: unknown) => ({ 'x402/payment': payment })
const offered = z.object({
  resource: z.object({ url: z.string() }),
  extensions: z.object({ bazaar: z.any() }),
})
const position = ({ _meta }: { _meta: object }) =>
  z
    .object({ 'tollbook/receipt': z.object({ receipt: z.object({ ledger: z.object({ position: z.int() }) }) }) })
    .parse(_meta)['tollbook/receipt'].receipt.ledger.position

describe.each([
  ['SDK 1.32', (url: string) => earlierClient(url)],
  ['client 2.4 in 2025-11-25', (url: string) => currentClient(url, 'legacy')],
  ['client 2.4 in 2026-07-28', (url: string) => currentClient(url, 'auto')],
])('%s', (_name, connect) => {
  test.each([
    ['an object', () => qrCall, x402Forms.object],
    ['base64', () => call, x402Forms.base64],
  ] as const)('buys with a payment as %s', async (_form, choose, form) => {
    const bought = choose()
    const buyer = await connect(opened.service.baseUrl)
    expect(JSON.stringify(await buyer.listTools())).toContain(`"name":"${bought.name}"`)
    const unpaid = await buyer.callTool(bought)
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
    expect(JSON.parse(unpaid.content[0]?.text ?? '')).toEqual(unpaid.structuredContent)
    const paid = await buyer.callTool({ ...bought, _meta: paying(form(await payX402(unpaid, wallet))) })
    expect(paid).toMatchObject({
      isError: false,
      structuredContent: { success: true },
      _meta: { 'x402/payment-response': { success: true, network: devnet, payer: opened.service.payer.address } },
    })
    expect(JSON.parse(paid.content[0]?.text ?? '')).toEqual(paid.structuredContent)
    expect(position(paid)).toBeGreaterThan(0)
  })
})

test('the stock client of MPP pays once, after its approval, and gets both receipts', async () => {
  let approvals = 0
  const buyer = await mppToolClient(opened.service.baseUrl, wallet, () => ++approvals === 1)
  const paid = await buyer.callTool(qrCall)
  expect([paid.isError, approvals]).toEqual([false, 1])
  expect(paid._meta['org.paymentauth/receipt']).toMatchObject({
    method: 'solana',
    status: 'success',
    challengeId: expect.stringMatching(/./),
  })
  expect(position(paid)).toBeGreaterThan(0)
})

test('a wallet gets our own quote, and pays it by its own transaction', async () => {
  const payer = { 'tollbook/wallet': opened.service.payer.address }
  const unpaid = await client.callTool({ ...call, _meta: payer })
  const proof = await opened.service.payer.pay(quoteBody.parse(unpaid._meta['tollbook/offer']))
  const paid = await client.callTool({ ...call, _meta: { ...payer, 'tollbook/payment-proof': proof } })
  expect(paid).toMatchObject({ isError: false, structuredContent: { data: order } })
})

describe('one payment', () => {
  test('is the same payment over MCP and over HTTP', async () => {
    const payment = await sign()
    const overMcp = await client.callTool({ ...call, _meta: paying(payment) })
    const signature = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }
    const overHttp = await fetch(newsUrl(opened.service.baseUrl), { headers: signature })
    expect([overHttp.status, overHttp.headers.get('idempotent-replay')]).toEqual([200, 'true'])
    expect(await overHttp.json()).toMatchObject({ receipt: { ledger: { position: position(overMcp) } } })
    const otherOrder = await fetch(`${opened.service.baseUrl}/api/data/news?query=btc`, { headers: signature })
    expect([otherOrder.status, await otherOrder.json()]).toMatchObject([402, { reason: 'already_used' }])
  })

  test('raced over MCP and HTTP at two instances buys one answer', async () => {
    const payment = await sign()
    const clients = [client, await earlierClient(other.baseUrl)]
    const signature = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }
    const before = runs
    const byMcp = async (nth: number) =>
      (await clients[nth % 2]?.callTool({ ...call, _meta: paying(payment) }))?.isError === false
    const byHttp = async (nth: number) => {
      const { baseUrl } = nth % 2 === 0 ? other : opened.service
      return (await fetch(newsUrl(baseUrl), { headers: signature })).status === 200
    }
    const answers = await Promise.all(Array.from({ length: 16 }, (_, nth) => (nth % 4 < 2 ? byMcp(nth) : byHttp(nth))))
    expect(answers).toContain(true)
    expect(runs - before).toBe(1)
  })

  test('with a key in `_meta` returns the stored answer', async () => {
    const _meta = { ...paying(await sign()), 'tollbook/idempotency-key': 'purchase-1' }
    const first = await client.callTool({ ...call, _meta })
    const again = await client.callTool({ ...call, _meta })
    expect(first).toMatchObject({ isError: false })
    expect(again).toMatchObject({ _meta: { 'tollbook/replay': true } })
    expect(again.structuredContent).toEqual(first.structuredContent)
  })
})

describe('an error', () => {
  test('of an unknown outcome has no offer, and the same payment buys afterwards', async () => {
    const _meta = paying(await sign())
    isUnknown = true
    const unknown = await client.callTool({ ...call, _meta })
    isUnknown = false
    expect(unknown).toMatchObject({
      isError: true,
      structuredContent: { code: 'PAYMENT_PENDING' },
      _meta: { 'tollbook/retry-after-seconds': 2 },
    })
    expect(JSON.stringify(unknown)).not.toMatch(/x402Version|accepts|payment-required|tollbook\/offer/)
    expect((await client.callTool({ ...call, _meta })).isError).toBe(false)
  })

  test.each([
    ['an unreadable payment', () => Promise.resolve('e30='), true],
    [
      'a payment for another order',
      async () => {
        const payment = await sign()
        await client.callTool({ ...call, _meta: paying(payment) })
        return Buffer.from(JSON.stringify(payment)).toString('base64')
      },
      false,
    ],
  ] as const)('of %s carries an offer exactly where HTTP does', async (_name, make, isSame) => {
    const payment = await make()
    const asked = isSame ? order : { query: 'eth' }
    const query = new URLSearchParams(JSON.parse(JSON.stringify(asked)))
    const overHttp = await fetch(`${opened.service.baseUrl}/api/data/news?${query.toString()}`, {
      headers: { 'payment-signature': payment },
    })
    const overMcp = await client.callTool({ name: 'data_news', arguments: asked, _meta: paying(payment) })
    expect(overHttp.status).toBe(402)
    expect('accepts' in overMcp.structuredContent).toBe(overHttp.headers.has('payment-required'))
    expect(overMcp).toMatchObject({ isError: true, _meta: { 'x402/payment-response': { success: false } } })
  })

  test('of a failed handler charges nothing, and the same payment buys afterwards', async () => {
    const _meta = paying(await sign())
    nextOutcome = () => Promise.resolve({ kind: 'failed', code: 'UPSTREAM_FAILED', message: 'the provider is down' })
    expect(await client.callTool({ ...call, _meta })).toMatchObject({
      isError: true,
      structuredContent: { code: 'UPSTREAM_FAILED' },
    })
    expect((await client.callTool({ ...call, _meta })).isError).toBe(false)
  })

  test('of an argument names it before any payment', async () => {
    const refused = await client.callTool({ name: 'data_news', arguments: { query: 'sol', limit: 99, size: 1 } })
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'INVALID_REQUEST' } })
    expect(refused.content[0]?.text).toMatch(/"field":"limit".*"field":"size"/)
  })
})

describe('a streamed answer', () => {
  test('is collected as a whole', async () => {
    nextOutcome = streams(() => chunksOf('n\n', '1\n'), 'text/csv')
    const paid = await client.callTool({ ...call, _meta: paying(await sign()) })
    expect(paid.content).toEqual([{ type: 'text', text: 'n\n1\n' }])
    expect(paid._meta['tollbook/receipt-location']).toMatch(/^\/api\/receipts\//)
    expect(paid._meta['x402/payment-response']).toMatchObject({ success: true })
  })

  test('that breaks is not sold', async () => {
    const _meta = paying(await sign())
    nextOutcome = streams(async function* () {
      yield* chunksOf('n\n')
      throw new Error('the provider hung up')
    }, 'text/csv')
    const broken = await client.callTool({ ...call, _meta })
    expect(broken).toMatchObject({ isError: true, structuredContent: { code: 'UPSTREAM_FAILED' } })
    expect(broken.structuredContent).not.toHaveProperty('accepts')
    expect((await client.callTool({ ...call, _meta })).isError).toBe(false)
  })

  test('above 1 MiB is cut in the result', async () => {
    const line = 'x'.repeat(700_000)
    nextOutcome = streams(() => chunksOf(line, line), 'text/plain')
    const [content] = (await client.callTool({ ...call, _meta: paying(await sign()) })).content
    expect(content?.text?.length).toBeLessThan(1024 * 1024 + 100)
    expect(content?.text).toContain('cut at 1 MiB')
  })
})

test.each([
  ['text/csv; charset=utf-8', { type: 'text', text: 'n\n1\n' }],
  ['image/webp', { type: 'image', mimeType: 'image/webp', data: 'bgoxCg==' }],
  ['audio/ogg', { type: 'audio', mimeType: 'audio/ogg', data: 'bgoxCg==' }],
  ['application/zip', { type: 'resource', resource: { mimeType: 'application/zip', blob: 'bgoxCg==' } }],
])('an answer of %s without an envelope has its own kind of content', async (contentType, content) => {
  const bytes = Buffer.from('n\n1\n')
  nextOutcome = () => Promise.resolve({ kind: 'raw', contentType, bytes, meta })
  const paid = await client.callTool({ ...call, _meta: paying(await sign()) })
  expect(paid).toMatchObject({ isError: false, content: [content] })
  expect(paid._meta['tollbook/receipt-jws']).toMatch(/^eyJ/)
})

test('an unpaid call lists its tool for indexers of x402', async () => {
  const { resource, extensions } = offered.parse((await client.callTool(call)).structuredContent)
  expect(resource.url).toBe(`${opened.service.baseUrl}/mcp`)
  expect(validateAndExtract(extensions.bazaar)).toMatchObject({
    valid: true,
    info: { input: { type: 'mcp', toolName: 'data_news', transport: 'streamable-http' } },
  })
  expect(validateDiscoveryExtensionSpec(extensions.bazaar)).toMatchObject({ valid: true })
})

test('neither log nor metrics show a payment, and both name the tool', async () => {
  const payment = await sign()
  const key = 'secret-key-of-the-caller'
  await client.callTool({ ...call, _meta: { ...paying(payment), 'tollbook/idempotency-key': key } })
  await client.callTool({
    ...call,
    _meta: { ...paying({ ...payment, payload: { transaction: 'AAAA' } }), 'tollbook/idempotency-key': key },
  })
  const text = logged.join('')
  const { transaction } = z.object({ transaction: z.string() }).parse(payment.payload)
  const { secret } = z.object({ secret: z.string() }).parse(payment.accepted.extra)
  for (const hidden of [transaction, secret, key]) expect(text).not.toContain(hidden)
  expect(text).toMatch(/"event":"request".*"route":"mcp:data_news"/)
  const metrics = await (await fetch(`${opened.service.baseUrl}/metrics`)).text()
  expect(metrics).toContain('tollbook_http_requests_total{route="mcp:data_news",status="200"}')
})

test('the free tools answer what the free routes answer', async () => {
  const { baseUrl } = opened.service
  for (const [name, path] of [
    ['service_health', '/api/health'],
    ['burn_statistics', '/api/token/burn-stats'],
  ] as const) {
    const { structuredContent } = await client.callTool({ name, arguments: {} })
    const routed = z
      .object({ data: z.record(z.string(), z.unknown()) })
      .parse(await (await fetch(`${baseUrl}${path}`)).json())
    expect(Object.keys(z.record(z.string(), z.unknown()).parse(structuredContent['data']))).toEqual(
      Object.keys(routed.data),
    )
  }
  const prices = await client.callTool({ name: 'list_prices', arguments: {} })
  expect(prices.structuredContent).toMatchObject({
    products: expect.arrayContaining([expect.objectContaining({ tool: 'tools_qrcode', priceUSD: 0.005 })]),
  })
  const receipt = await client.callTool({ name: 'find_receipt', arguments: { reference: 'none', attempt: 'x' } })
  expect(receipt.isError).toBe(true)
})

test('the stock HTTP client still buys with the tools on', async () => {
  const buy = await stockFetch(wallet.wallet, wallet)
  expect((await buy(`${opened.service.baseUrl}/x402/api/data/news?query=sol`)).status).toBe(200)
})
