import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createPayingFetch, type PayingFetchOptions } from '@tollbook/client'
import { keypairWallet } from '@tollbook/client/payerWallet'
import { queryInteger } from '../../src/product/text.ts'
import { saleBody } from '@tollbook/core/wire'
import { afterFile } from '../support/afterFile.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { type CalledTool, toolResult } from '../support/toolResult.ts'
import { delivers, withEndpoint } from '../support/scriptedEndpoint.ts'
import { openTestEndpoint } from '../support/testProduct.ts'
import { chunksOf, streams } from '../e2e/streamedAnswer.ts'
import { callTool } from '../proofs/callTool.ts'
import { impatientClock } from './support/impatientClock.ts'
import { rejectionOf } from './support/payerScene.ts'

/* Calls of tools that a paying fetch pays. A QR code costs 0.4 USD, and the news 0.025. */

let service: TestService
const news = openTestEndpoint({
  path: '/api/data/news',
  parameters: z.strictObject({ query: z.string(), limit: queryInteger({ min: 1, max: 50, default: 10 }) }),
  deliver: (parameters, job) =>
    parameters.query === 'streamed'
      ? streams(() => chunksOf('n\n', '1\n'), 'text/csv')(job)
      : Promise.resolve({ ...delivers, data: parameters }),
})

beforeAll(async () => {
  service = await openTestService({
    seams: { endpoints: withEndpoint({ endpoint: news }) },
    sellsTabs: true,
    env: { TAB_MAX_USD: '10', TABS_TOTAL_MAX_USD: '1000', PRICES_USD: '/api/tools/qrcode=0.4' },
  })
})

interface Sent {
  readonly headers: Headers
  readonly body: string
}

type Mode = 'auto' | 'legacy'

/** A stock client of MCP whose transport has a paying fetch, and what that has sent. */
async function openTools(options: Partial<PayingFetchOptions> = { tab: { depositUsd: 1 } }, mode: Mode = 'auto') {
  const sent: Sent[] = []
  const payingFetch = createPayingFetch({
    wallet: keypairWallet(service.demoWallet),
    rpcUrl: service.chain.rpcUrl,
    expectedMint: service.mint,
    spendingLimit: { perRequest: { usd: '0.5' }, total: { usd: '2' } },
    clock: impatientClock,
    fetch: (input, init) => {
      const body = init?.body instanceof Uint8Array ? Buffer.from(init.body).toString() : ''
      sent.push({ headers: new Headers(init?.headers), body })
      return fetch(input, init)
    },
    ...options,
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.baseUrl), { fetch: payingFetch }))
  afterFile(() => client.close())
  const call = async (name: string, values: Record<string, unknown>) =>
    toolResult.parse(await client.callTool({ name, arguments: values }))
  return { sent, payingFetch, client, call }
}

const receiptShape = z.object({
  receipt: z.object({ signature: z.string(), ledger: z.object({ position: z.int() }) }),
})
const receiptOf = ({ _meta }: Pick<CalledTool, '_meta'>) => receiptShape.parse(_meta['tollbook/receipt']).receipt
const debitShape = z.object({
  params: z.object({ _meta: z.object({ 'tollbook/wallet': z.string(), 'tollbook/payment-proof': z.string() }) }),
})
const debitOf = (sent: readonly Sent[]) =>
  sent.flatMap(({ body }) => {
    const { data } = debitShape.safeParse(body.startsWith('{') ? JSON.parse(body) : undefined)
    return data === undefined ? [] : [data.params._meta]
  })

test.each(['auto', 'legacy'] as const)(
  'a stock client in %s mode pays its calls by debits of one deposit',
  async (mode) => {
    const { call, payingFetch, sent } = await openTools(undefined, mode)
    const [first, second] = [
      await call('tools_qrcode', { data: `a-${mode}` }),
      await call('tools_qrcode', { data: `b-${mode}` }),
    ]
    expect([first, second]).toMatchObject([{ isError: false }, { isError: false }])
    expect(receiptOf(first).signature).toBe(receiptOf(second).signature)
    expect(receiptOf(first).ledger).not.toEqual(receiptOf(second).ledger)
    expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '200000000' })
    expect(debitOf(sent)).toHaveLength(2)
  },
)

test.each([
  ['POST', 'tools_qrcode', { size: 300, data: 'one "order" & more' }, '/api/tools/qrcode'],
  ['GET', 'data_news', { query: 'one & two', limit: 3 }, '/api/data/news?limit=3&query=one+%26+two'],
] as const)(
  'the number of a debit over MCP is one service over HTTP, for a %s',
  async (method, name, values, target) => {
    const { call, sent, payingFetch } = await openTools()
    const bought = await call(name, values)
    const [debit] = debitOf(sent)
    const body = method === 'GET' ? {} : { body: JSON.stringify(values, Object.keys(values).toSorted()) }
    const overHttp = await fetch(service.baseUrl + target, {
      method,
      ...body,
      headers: {
        'content-type': 'application/json',
        'x-wallet-address': debit?.['tollbook/wallet'] ?? '',
        'x-payment-proof': debit?.['tollbook/payment-proof'] ?? '',
      },
    })
    expect([overHttp.status, overHttp.headers.get('idempotent-replay')]).toEqual([200, 'true'])
    expect(saleBody.parse(await overHttp.json()).receipt.ledger).toMatchObject(receiptOf(bought).ledger)
    const { balanceBaseUnits } = z
      .looseObject({ balanceBaseUnits: z.string() })
      .parse(await payingFetch.tabs.status(service.baseUrl))
    expect(balanceBaseUnits).toBe(method === 'GET' ? '975000000' : '600000000')
    const other = await callTool(service.baseUrl, {
      name,
      arguments: { ...values, ...(method === 'GET' ? { query: 'other' } : { data: 'other' }) },
      meta: debit ?? {},
    })
    expect(other).toMatchObject({ status: 409, code: 'TAB_NUMBER_USED' })
  },
)

test('the number of a debit over HTTP is one service over MCP', async () => {
  const { sent, payingFetch } = await openTools()
  await payingFetch(`${service.baseUrl}/api/data/news?query=sol`)
  const headers = sent.findLast((each) => each.headers.has('x-payment-proof'))?.headers
  const again = await callTool(service.baseUrl, {
    name: 'data_news',
    arguments: { query: 'sol' },
    meta: {
      'tollbook/wallet': headers?.get('x-wallet-address'),
      'tollbook/payment-proof': headers?.get('x-payment-proof'),
    },
  })
  expect(again).toMatchObject({ status: 200, isReplay: true })
})

test('without a tab each call is paid by itself', async () => {
  const { call } = await openTools({})
  const [first, second] = [await call('tools_qrcode', { data: 'x' }), await call('tools_qrcode', { data: 'y' })]
  expect([first.isError, second.isError]).toEqual([false, false])
  expect(receiptOf(first).signature).not.toBe(receiptOf(second).signature)
})

test('free tools, errors of arguments and prices above the limit cost nothing', async () => {
  const { call, payingFetch, client } = await openTools({
    spendingLimit: { perRequest: { usd: '0.3' }, total: { usd: '2' } },
  })
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('tools_qrcode')
  expect(await call('list_prices', {})).toMatchObject({ isError: false })
  expect(await call('data_news', { limit: 99 })).toMatchObject({
    isError: true,
    structuredContent: { code: 'INVALID_REQUEST' },
  })
  expect(await rejectionOf(call('tools_qrcode', { data: 'dear' }))).toMatchObject({ name: 'SpendingLimitExceeded' })
  expect(await payingFetch.tabs.status(service.baseUrl)).toBeUndefined()
})

test('a lost answer is asked for with the same debit', async () => {
  let lost = 0
  const flaky: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const text = init?.body instanceof Uint8Array ? Buffer.from(init.body).toString() : ''
    if (!text.includes('payment-proof') || ++lost > 1) return response
    throw new TypeError('the connection broke')
  }
  const { call, payingFetch } = await openTools({ tab: { depositUsd: 1 }, fetch: flaky })
  expect(await call('tools_qrcode', { data: 'lost' })).toMatchObject({
    isError: false,
    _meta: { 'tollbook/replay': true },
  })
  expect(await payingFetch.tabs.status(service.baseUrl)).toMatchObject({ balanceBaseUnits: '600000000' })
  expect(lost).toBe(2)
})

test('a streamed answer arrives as a whole', async () => {
  const { call, sent } = await openTools()
  expect(await call('data_news', { query: 'streamed' })).toMatchObject({ content: [{ text: 'n\n1\n' }] })
  expect(debitOf(sent)).toHaveLength(1)
})
