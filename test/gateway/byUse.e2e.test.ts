import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Pool } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { afterFile } from '../support/afterFile.ts'
import { askForQuote, type Order } from '../support/ask.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { ledgerFindings } from '../support/ledgerFindings.ts'
import { makeScratchDirectory } from '../support/scratchDirectory.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { debitProof, openTab, type OpenedTab } from '../tabs/tabClient.ts'
import { exampleApis } from './exampleApis.ts'
import { examplesOfPage } from './pageExamples.ts'

/* A tab buys the examples of docs/gateway.md that have a price by use. */

const api = await openLoopbackServer(exampleApis)
process.env['ACME_KEY'] = 's3cret'
process.env['LLM_KEY'] = 's3cret'

const parts = z.object({ upstreams: z.record(z.string(), z.looseObject({})), routes: z.array(z.looseObject({})) })

async function writeExamples(): Promise<string> {
  const examples = examplesOfPage()
    .filter(({ name }) => name !== 'own-api')
    .map(({ text }) => parts.parse(parse(text)))
  const upstreams = examples.flatMap((one) => Object.entries(one.upstreams))
  const merged = {
    version: 1,
    upstreams: Object.fromEntries(upstreams.map(([name, entry]) => [name, { ...entry, url: `${api.url}/v1` }])),
    routes: examples.flatMap((one) => one.routes),
  }
  const file = join(await makeScratchDirectory(), 'tollbook.yaml')
  await writeFile(file, stringify(merged))
  return file
}

let service: TestService
let admin: Pool
let tab: OpenedTab

beforeAll(async () => {
  service = await openTestService({
    sellsTabs: true,
    env: { PRODUCTS_FILE: await writeExamples(), TAB_MAX_USD: '100', TABS_TOTAL_MAX_USD: '1000000' },
  })
  admin = new Pool({ connectionString: service.database.adminUrl, max: 1 })
  afterFile(() => admin.end())
  tab = await openTab(service, { depositUsd: 5 })
})

let number = 0

async function balance(): Promise<number> {
  const { rows } = await admin.query<{ balance: string }>(
    'select -balance as balance from ledger.accounts where name = $1',
    [`Liabilities:Prepaid:${tab.tab}`],
  )
  return Number(rows[0]?.balance)
}

/** Buys on the tab. Returns the charge in micro dollars: a token costs 0.001 USD and has 6 decimals. */
async function buy(order: Order) {
  const before = await balance()
  const proof = debitProof(tab, order, { number: ++number })
  const response = await fetch(`${service.baseUrl}${order.path}`, {
    ...(order.body === undefined ? {} : { method: 'POST', body: JSON.stringify(order.body) }),
    headers: { 'content-type': 'application/json', 'x-wallet-address': tab.wallet, 'x-payment-proof': proof },
  })
  const text = await response.text()
  return { response, text, microUsd: (before - (await balance())) / 1_000 }
}

const receiptOf = ({ headers }: Response): unknown => {
  const [, payload = ''] = (headers.get('tollbook-receipt') ?? '').split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}

const used = (heldBaseUnits: string, output: number, input = 0, isEstimated = false) => ({
  tab: { heldBaseUnits, usage: { input, output, isEstimated } },
})

test('rows are charged, and the rest of the hold is on the tab again', async () => {
  const { response, microUsd } = await buy({ path: '/acme/search?q=red' })
  expect(microUsd).toBe(3_000)
  expect(receiptOf(response)).toMatchObject(used('50000000', 3))
})

test('bytes are charged', async () => {
  const { response, text, microUsd } = await buy({ path: '/acme/export' })
  expect(microUsd).toBe(text.length * 200)
  expect(receiptOf(response)).toMatchObject(used('100000000', text.length))
})

const chat = (more: object = {}): Order => ({
  path: '/v1/chat/completions',
  body: { model: 'large', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100, ...more },
})

test('tokens are counted where the API reports none, and cost the minimum at least', async () => {
  const { response, microUsd } = await buy(chat())
  expect(microUsd).toBe(500)
  expect(receiptOf(response)).toMatchObject(used('30000000', 2, 6, true))
})

test('tokens of a stream are in its receipt, and the API is asked for the usage', async () => {
  const { text, microUsd } = await buy(chat({ stream: true }))
  expect(microUsd).toBe(500)
  expect(text).toContain('"usage":{"input":6,"output":2,"isEstimated":true}')
  expect(api.asked.at(-1)?.body).toContain('"stream_options":{"include_usage":true}')
})

test('rows cannot be bounded below their price, and tokens can', async () => {
  const bounded = async (order: Order) => {
    const proof = debitProof(tab, order, { number: ++number, maxBaseUnits: 1_000_000n })
    const headers = { 'content-type': 'application/json', 'x-wallet-address': tab.wallet, 'x-payment-proof': proof }
    const init = order.body === undefined ? {} : { method: 'POST', body: JSON.stringify(order.body) }
    return fetch(`${service.baseUrl}${order.path}`, { ...init, headers })
  }
  const before = api.asked.length
  const rows = await bounded({ path: '/acme/search?q=red' })
  expect([rows.status, await rows.text()]).toEqual([402, expect.stringContaining('it costs 0.05 USD')])
  expect(api.asked).toHaveLength(before)
  const tokens = await bounded(chat())
  expect(receiptOf(tokens)).toMatchObject(used('1000000', 2, 6, true))
})

test('other rails pay the price of the route', async () => {
  const order = { path: '/acme/search?q=red' }
  const quote = await askForQuote(service, order)
  const proof = await service.payer.pay(quote, 'boundSignature')
  const headers = { 'x-wallet-address': service.payer.address, 'x-payment-proof': proof }
  const response = await fetch(`${service.baseUrl}${order.path}`, { headers })
  expect(receiptOf(response)).toMatchObject({ requiredBaseUnits: '50000000' })
})

test('the audit computes every charge', async () => {
  expect(await ledgerFindings(service.database.adminUrl)).toEqual([])
})
