import { Pool } from 'pg'
import { z } from 'zod'
import { beforeAll, describe, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { systemClock } from '@tollbook/core/clock'
import { saleBody } from '@tollbook/core/wire'
import { afterFile } from '../support/afterFile.ts'
import { ask, askForQuote, type Order } from '../support/ask.ts'
import { openLoopbackServer } from '../support/loopbackServer.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { meteredModel } from './meteredModel.ts'
import { askOnTab, debitProof, openTab, type OpenedTab } from './tabClient.ts'

/* Chats on a tab are paid by their tokens. */

const model = await openLoopbackServer(meteredModel)
let service: TestService
let admin: Pool
let tab: OpenedTab

beforeAll(async () => {
  service = await openTestService({
    sellsTabs: true,
    env: {
      TAB_MAX_USD: '100',
      TABS_TOTAL_MAX_USD: '1000000',
      AI_BASE_URL: `${model.url}/v1`,
      AI_MODEL: 'small,large',
      AI_MODEL_PRICES_USD: 'large=0.002:64',
      PRICES_USD: '/api/tools/qrcode=0.9985',
      // Of the small model, 0.2 and 0.8 dollars per million tokens, at least 0.0001 dollars.
      AI_TOKEN_PRICES_USD: 'small=0.2:0.8:0.0001,large=10:40',
    },
  })
  admin = new Pool({ connectionString: service.database.adminUrl, max: 1 })
  afterFile(() => admin.end())
  tab = await openTab(service, { depositUsd: 5 })
})

let number = 0

function chat(content: string, more: object = {}): Order {
  return { path: '/api/ai/chat', body: { message: content, ...more } }
}

async function balance(): Promise<bigint> {
  const { rows } = await admin.query<{ balance: string }>(
    'select -balance as balance from ledger.accounts where name = $1',
    [`Liabilities:Prepaid:${tab.tab}`],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

/** A token costs 0.001 USD and has 6 decimals: a micro dollar is 1,000 base units. */
const baseUnitsOf = (microUsd: number) => BigInt(Math.ceil(microUsd)) * 1_000n
const ofLarge = (input: number, output: number) => baseUnitsOf(input * 10 + output * 40)

const metered = z.object({
  receipt: z.object({
    requiredBaseUnits: z.string(),
    tab: z.object({
      heldBaseUnits: z.string(),
      usage: z.object({ input: z.number(), output: z.number(), isEstimated: z.boolean() }),
    }),
  }),
})

async function buy(order: Order) {
  const before = await balance()
  const reply = await askOnTab(service, tab, order, { number: ++number })
  expect(reply.status).toBe(200)
  const after = await balance()
  expect(reply.headers.get('tab-balance')).toBe(after.toString())
  return { receipt: metered.parse(reply.body).receipt, charged: before - after }
}

describe('a whole chat', () => {
  test('is charged by the tokens that its server reports, and the rest of the hold is on the tab again', async () => {
    const { receipt, charged } = await buy(chat('usage please', { model: 'large' }))
    expect(charged).toBe(ofLarge(11, 40))
    expect(receipt).toEqual({
      requiredBaseUnits: charged.toString(),
      tab: { heldBaseUnits: '2000000', usage: { input: 11, output: 40, isEstimated: false } },
    })
  })

  test('costs at least the minimum', async () => {
    expect((await buy(chat('usage please'))).charged).toBe(baseUnitsOf(100))
  })

  test('owes its burn under the reference of its debit', async () => {
    const reply = await askOnTab(service, tab, chat('usage please'), { number: ++number })
    const { burnOwed } = saleBody.parse(reply.body).receipt
    const shown = await fetch(`${service.baseUrl}/api/token/burns/tab:${tab.tab}:${number}`)
    expect(await shown.json()).toMatchObject({ data: { status: 'owed', baseUnits: burnOwed, burn: null } })
  })

  test('without a report is counted by the service, which says so', async () => {
    const { receipt, charged } = await buy(chat('no_usage please', { model: 'large' }))
    const { usage } = receipt.tab
    // 15 bytes of the message are 4 tokens, and 4 mark it. 40 words of 6 bytes count as 60, more than the hold pays
    // for.
    expect(usage).toEqual({ input: 8, output: 48, isEstimated: true })
    expect(charged).toBe(baseUnitsOf(2_000))
  })

  test('whose server reports impossible counts is charged what is possible, at most the hold', async () => {
    const { receipt, charged } = await buy(chat('too_much_usage please', { model: 'large' }))
    expect(receipt.tab.usage.output).toBeLessThanOrEqual(64)
    expect(charged).toBeLessThanOrEqual(2_000_000n)
  })

  test('costs its fixed price on every other rail', async () => {
    const order = chat('usage please', { model: 'large' })
    const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
    const reply = await ask(service, { ...order, proof })
    expect(saleBody.parse(reply.body).receipt.requiredBaseUnits).toBe('2000000')
    expect(reply.headers.has('tab-balance')).toBe(false)
  })

  test('is not charged if its server breaks off', async () => {
    const before = await balance()
    const reply = await askOnTab(service, tab, chat('cut please'), { number: ++number })
    expect(reply.status).toBe(502)
    expect(await balance()).toBe(before)
  })
})

const endShape = z.object({ finishReason: z.string(), stoppedBy: z.string().optional() })

/** Reads a streamed chat, up to a number of bytes. */
async function stream(order: Order, bytesMax = Number.POSITIVE_INFINITY) {
  const before = await balance()
  const proof = debitProof(tab, order, { number: ++number })
  const headers = { 'content-type': 'application/json', 'x-wallet-address': tab.wallet, 'x-payment-proof': proof }
  const stop = new AbortController()
  const response = await fetch(`${service.baseUrl}${order.path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(order.body),
    signal: stop.signal,
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > bytesMax) break
  }
  stop.abort()
  const events = text.split('\n\n').map((event) => /^data: (.*)$/m.exec(event)?.[1] ?? '""')
  const rest = response.headers.get('tab-balance')
  return { status: response.status, text, events, before, number, rest }
}

async function untilEnded(numbered: number): Promise<void> {
  for (;;) {
    const { rows } = await admin.query<{ state: string }>(
      `select s.state from ledger.streams s where s.kind = 'tab_request' order by s.stream desc limit 1`,
    )
    if (rows[0]?.state === 'captured' || rows[0]?.state === 'released') return
    expect(numbered).toBe(number)
  }
}

describe('a streamed chat', () => {
  test('is charged by the report after its last text', async () => {
    const { text, before, rest } = await stream(chat('usage please', { model: 'large', stream: true }))
    // The header comes before the text, so the price is still held.
    expect(rest).toBe((before - 2_000_000n).toString())
    expect(text).toContain('"usage":{"input":11,"output":40,"isEstimated":false}')
    expect(before - (await balance())).toBe(ofLarge(11, 40))
  })

  test('that reaches its hold is cut, says so, and costs the hold at most', async () => {
    const order = chat('over_the_limit please', { model: 'large', stream: true })
    const { events, before } = await stream(order)
    const end = events.map((event) => endShape.safeParse(JSON.parse(event))).find(({ success }) => success)
    expect(end?.data).toEqual({ finishReason: 'length', stoppedBy: 'limit' })
    const charged = before - (await balance())
    expect(charged).toBeLessThanOrEqual(2_000_000n)
    expect(charged).toBeGreaterThan(1_900_000n)
  })

  test('whose caller leaves costs what was written until then', async () => {
    const order = chat('slow please', { model: 'large', stream: true })
    const { before, number: left } = await stream(order, 60)
    await untilEnded(left)
    const charged = before - (await balance())
    expect(charged).toBeGreaterThan(0n)
    expect(charged).toBeLessThan(ofLarge(8, 60))
  })

  test('that its server cuts is not charged', async () => {
    const before = await balance()
    await expect(stream(chat('cut please', { model: 'large', stream: true }))).rejects.toThrow()
    await untilEnded(number)
    expect(await balance()).toBe(before)
  })
})

const refused = z.object({
  reason: z.string().optional(),
  error: z.string(),
  tab: z
    .object({
      neededBaseUnits: z.string(),
      balanceBaseUnits: z.string(),
      affordable: z.object({ maxUsd: z.string(), output: z.number() }),
    })
    .optional(),
})

describe('the bound of a caller', () => {
  const bounded = (maxUsd: string, content = 'over_the_limit please'): Order => ({
    ...chat(content, { model: 'large' }),
    headers: { 'tab-max-usd': maxUsd },
  })

  test('lowers the hold and the tokens of the reply', async () => {
    const { receipt, charged } = await buy(bounded('0.001'))
    expect(receipt.tab.heldBaseUnits).toBe('1000000')
    // 22 bytes of the message are 6 tokens, and 4 mark it. 900 micro dollars are left for the reply.
    expect(receipt.tab.usage.output).toBe(22)
    expect(charged).toBe(ofLarge(11, 22))
  })

  test('may be the maximum that the session key signs', async () => {
    const order = chat('over_the_limit please', { model: 'large' })
    const reply = await askOnTab(service, tab, order, { number: ++number, maxBaseUnits: 1_000_999n })
    expect(metered.parse(reply.body).receipt.tab.heldBaseUnits).toBe('1000000')
  })

  test('that pays for less than the input and one token is refused before anything is held', async () => {
    const before = await balance()
    const orders = [bounded('0.00005', 'usage please'), bounded('0.0001')]
    for (const order of orders) {
      const reply = await askOnTab(service, tab, order, { number: ++number })
      expect([reply.status, refused.parse(reply.body).reason]).toEqual([402, 'tab_limit'])
    }
    const signed = { number: ++number, maxBaseUnits: 100_000n }
    const reply = await askOnTab(service, tab, chat('over_the_limit please', { model: 'large' }), signed)
    expect(refused.parse(reply.body).error).toContain('costs at least 0.00014 USD by use, and the debit permits 0.0001')
    expect(await balance()).toBe(before)
    const { rows } = await admin.query(
      `select from ledger.events where kind = 'TabDebited' and convert_from(body, 'UTF8')::jsonb ->> 'number' = any($1)`,
      [[number, number - 1, number - 2].map(String)],
    )
    expect(rows).toHaveLength(0)
  })

  test('bounds a fixed price too', async () => {
    const order: Order = { path: '/api/tools/qrcode', body: { data: 'hello' }, headers: { 'tab-max-usd': '0.99' } }
    const reply = await askOnTab(service, tab, order, { number: ++number, maxBaseUnits: 1_000_000_000n })
    expect(refused.parse(reply.body).error).toContain('costs 0.9985 USD, and tab-max-usd permits 0.99 USD')
  })

  test('is an amount of dollars', async () => {
    for (const maxUsd of ['0', '1e3', '-1', '0.0000001', '1,5']) {
      const reply = await askOnTab(service, tab, bounded(maxUsd), { number: ++number })
      expect([reply.status, reply.body['code']]).toEqual([400, 'INVALID_REQUEST'])
    }
  })

  test('that the tab can pay is in the refusal if it holds less than the price', async () => {
    const small = await openTab(service, { depositUsd: 1 })
    const qrCode = { path: '/api/tools/qrcode', body: { data: 'hello' } }
    expect((await askOnTab(service, small, qrCode, { number: 1, maxBaseUnits: 1_000_000_000n })).status).toBe(200)
    const order = chat('over_the_limit please', { model: 'large' })
    const reply = await askOnTab(service, small, order, { number: 2 })
    expect(reply.status).toBe(402)
    const { error, tab: short } = refused.parse(reply.body)
    expect(short).toEqual({
      neededBaseUnits: '2000000',
      balanceBaseUnits: '1500000',
      affordable: { maxUsd: '0.0015', output: 35 },
    })
    expect(error).toContain('send tab-max-usd: 0.0015, which pays for 35 units of output')
    const afforded = { ...order, headers: { 'tab-max-usd': '0.0015' } }
    const { receipt } = metered.parse((await askOnTab(service, small, afforded, { number: 2 })).body)
    expect(receipt.tab.usage.output).toBe(35)
  })
})

test('the audit computes every charge from the usage and the price list', async () => {
  const report = await audit({
    source: { kind: 'database', url: service.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: undefined,
    resumeFile: undefined,
    clock: systemClock,
  })
  expect(report.findings).toEqual([])
})
