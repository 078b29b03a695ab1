import { createHash, randomBytes } from 'node:crypto'
import { Pool } from 'pg'
import { z } from 'zod'
import { beforeAll, describe, expect, test } from 'vitest'
import { audit } from '@tollbook/audit/audit'
import { verifyReceipt } from '@tollbook/client'
import { systemClock } from '@tollbook/core/clock'
import { saleBody } from '@tollbook/core/wire'
import { afterFile } from '../support/afterFile.ts'
import { ask, askForQuote, type Order, qrOrder } from '../support/ask.ts'
import { shiftedClock } from '../support/shiftedClock.ts'
import { openTestService, type TestService } from '../support/testService.ts'
import { callTool } from '../proofs/callTool.ts'
import {
  askOnTab,
  closeTab,
  debitProof,
  newSessionKey,
  openFinalTab,
  openTab,
  type OpenedTab,
  signedBy,
  signedByWallet,
} from './tabClient.ts'

const env = {
  TAB_BEARER_DAY_USD: '1',
  TAB_MAX_USD: '10',
  TABS_TOTAL_MAX_USD: '1000000',
  PRICES_USD: '/api/tools/qrcode=0.05',
}

const clock = shiftedClock()
/** Two instances on one ledger. */
let service: TestService
let other: TestService
let admin: Pool

beforeAll(async () => {
  service = await openTestService({ sellsTabs: true, env })
  other = await openTestService({ sellsTabs: true, besides: service, env, clock })
  admin = new Pool({ connectionString: service.database.adminUrl, max: 1 })
  afterFile(() => admin.end())
})

// 0.05 USD at 0.001 USD a token of 6 decimals.
const qrBaseUnits = 50_000_000n
const otherOrder: Order = { path: '/api/tools/qrcode', body: { data: 'other' } }

async function balanceOf({ tab }: OpenedTab): Promise<bigint> {
  const { rows } = await admin.query<{ balance: string }>(
    'select -balance as balance from ledger.accounts where name = $1',
    [`Liabilities:Prepaid:${tab}`],
  )
  return BigInt(rows[0]?.balance ?? 0)
}

describe('a deposit', () => {
  test('is asked for whole, without a burn, and for the wallet of tabs', async () => {
    const quote = await askForQuote(service, { path: '/api/tabs', body: { sessionKey: service.payer.address } })
    const { requiredBaseUnits, burnBaseUnits, transferBaseUnits } = quote.quote
    expect(quote.paymentWallet).toBe(service.tabWallet.publicKey.toBase58())
    expect(quote.pricing).toMatchObject({ endpoint: '/api/tabs#5', priceUSD: 5 })
    expect([burnBaseUnits, transferBaseUnits]).toEqual(['0', requiredBaseUnits])
    expect(quote.distribution).toEqual({ burn: '0%', prepaid: '100%' })
    expect(quote.burnInfo).toEqual({ percentage: 0, tokensToBurn: 0 })
  })

  test('opens one tab, and its signature buys nothing more', async () => {
    const key = newSessionKey()
    const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: key.address } }
    const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
    const replies = await Promise.all([service, other, service].map((each) => ask(each, { ...order, proof })))
    expect(new Set(replies.map(({ status }) => status).filter((status) => status !== 409))).toEqual(new Set([200]))
    expect(await ask(service, { ...order, body: { ...order.body, days: 3 }, proof })).toMatchObject({ status: 402 })
  })

  test('has a receipt that its client verifies: nothing of it is burned or shared yet', async () => {
    const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: newSessionKey().address } }
    const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
    const { receipt } = saleBody.parse((await ask(service, { ...order, proof })).body)
    const keys: unknown = await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()
    expect(await verifyReceipt({ receipt, keys })).toMatchObject({ valid: true })
    expect(receipt).toMatchObject({ burned: '0', split: { burn: '0%', prepaid: '100%' } })
    expect(receipt).not.toHaveProperty('currency')
  })

  test('that is not bound to its quote opens no tab, because it is public', async () => {
    const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: newSessionKey().address } }
    const proof = await service.payer.pay(await askForQuote(service, order), 'signature')
    expect(await ask(service, { ...order, proof })).toMatchObject({
      status: 402,
      body: { reason: 'deposit_not_bound' },
    })
  })

  test('that was sent to the payment wallet buys no tab', async () => {
    const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: newSessionKey().address } }
    const quote = await askForQuote(service, order)
    const { paymentTokenAccount } = await askForQuote(service)
    const proof = await service.payer.pay({ ...quote, paymentTokenAccount }, 'boundSignature')
    expect(await ask(service, { ...order, proof })).toMatchObject({
      status: 402,
      body: { reason: 'transfer_insufficient' },
    })
  })

  test('is not offered as a transaction to the payment wallet, which people sign on the payment page', async () => {
    const digest = 'ab'.repeat(32)
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ account: service.payer.address })
    const response = await fetch(`${service.baseUrl}/pay/api/tabs/${digest}`, { ...post, body })
    expect(response.status).toBe(404)
  })

  test('of a second payment tops the tab up', async () => {
    const tab = await openTab(service)
    const order = { path: '/api/tabs', body: { depositUsd: 1, tab: tab.tab } }
    const proof = await service.payer.pay(await askForQuote(service, order), 'boundSignature')
    const before = await balanceOf(tab)
    expect(await ask(other, { ...order, proof })).toMatchObject({
      status: 200,
      body: { data: { tab: tab.tab, terms: null } },
    })
    expect(await balanceOf(tab)).toBe(2n * before)
  })
})

describe('a signed debit', () => {
  test('buys an answer with no call to a node, and records burn and shares', async () => {
    const tab = await openTab(service)
    const before = await balanceOf(tab)
    service.chain.forgetRequestCounts()
    const reply = await askOnTab(service, tab, qrOrder, { number: 1 })
    const { receipt } = saleBody.parse(reply.body)
    expect(receipt).toMatchObject({
      wallet: service.payer.address,
      signature: tab.deposit,
      burned: '0',
      burnOwed: '15000000',
    })
    expect(receipt.distribution).toEqual({ provider: '25000000', holders: '7500000', treasury: '2500000' })
    expect(await balanceOf(tab)).toBe(before - qrBaseUnits)
    const { rows } = await admin.query<{ kind: string }>(
      `select e.kind from ledger.events e join ledger.streams s on s.stream = e.stream where s.kind = 'tab_request' order by e.seq desc limit 2`,
    )
    expect(rows.map(({ kind }) => kind)).toEqual(['TabCaptured', 'TabDebited'])
  })

  test('with the same number brings the same answer again, at any instance and freshly signed, and is charged once', async () => {
    const tab = await openTab(service)
    const before = await balanceOf(tab)
    const proof = debitProof(tab, qrOrder, { number: 7 })
    const [first, ...more] = await Promise.all(
      [service, other, service, other].map((each) => ask(each, { ...qrOrder, proof })),
    )
    const again = await askOnTab(other, tab, qrOrder, { number: 7, validUntilMs: Date.now() + 30_000 })
    const sold = [first, ...more, again].flatMap((reply) => (reply?.status === 200 ? [saleBody.parse(reply.body)] : []))
    expect(new Set(sold.map(({ receipt }) => receipt.id)).size).toBe(1)
    expect(again.status).toBe(200)
    expect(await balanceOf(tab)).toBe(before - qrBaseUnits)
    expect(await askOnTab(service, tab, otherOrder, { number: 7 })).toMatchObject({
      status: 409,
      body: { code: 'TAB_NUMBER_USED' },
    })
  })

  test('of 32 at once for a tab with money for 20 is sold 20 times, and the others name what is missing', async () => {
    const tab = await openTab(service)
    const replies = await Promise.all(
      Array.from({ length: 32 }, (_, index) => {
        const order = { ...qrOrder, body: { data: `n${index}` } }
        return askOnTab(index % 2 === 0 ? service : other, tab, order, { number: index + 1 })
      }),
    )
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(12)
    for (const { status, body } of refused)
      expect([status, body]).toMatchObject([
        402,
        {
          code: 'INSUFFICIENT_BALANCE',
          tab: { id: tab.tab, neededBaseUnits: `${qrBaseUnits}`, balanceBaseUnits: '0' },
        },
      ])
    expect(await balanceOf(tab)).toBe(0n)
  })

  test('whose handler fails gives the hold back, and the same number buys the answer later', async () => {
    const tab = await openTab(service)
    const before = await balanceOf(tab)
    // No feed is configured, so no category has articles.
    const order = { path: '/api/data/stock?symbol=AAPL' }
    const reply = await askOnTab(service, tab, order, { number: 1 })
    expect(reply.status).not.toBe(200)
    expect(await balanceOf(tab)).toBe(before)
  })
})

describe('a call of a tool', () => {
  const call = { name: 'tools_qrcode', arguments: { data: 'hello' } }

  test('is paid by a bearer key, and by a signed debit of the same request', async () => {
    const secret = randomBytes(32)
    const tab = await openTab(service, {
      bearerSha256: createHash('sha256').update(secret).digest('hex'),
      maxPerDayUsd: 1,
    })
    const key = { 'tollbook/tab-key': `${tab.bearerPrefix}${secret.toString('base64url')}` }
    expect(await callTool(service.baseUrl, { ...call, meta: key })).toMatchObject({ status: 200 })
    const proof = debitProof(tab, qrOrder, { number: 1 })
    const debit = { 'tollbook/wallet': service.payer.address, 'tollbook/payment-proof': proof }
    expect(await callTool(other.baseUrl, { ...call, meta: debit })).toMatchObject({ status: 200 })
    expect(await ask(service, { ...qrOrder, proof })).toMatchObject({ status: 200 })
    expect(await balanceOf(tab)).toBe(1_000_000_000n - 2n * qrBaseUnits)
    const otherCall = { ...call, arguments: { data: 'other' }, meta: debit }
    expect((await callTool(service.baseUrl, otherCall)).status).toBe(409)
  })
})

describe('a bearer key', () => {
  const secret = randomBytes(32)
  const bearerSha256 = createHash('sha256').update(secret).digest('hex')

  async function askAsBearer(
    tab: OpenedTab,
    by: Uint8Array,
    more: Readonly<Record<string, string>> = {},
    { baseUrl }: TestService = service,
  ) {
    const response = await fetch(`${baseUrl}${qrOrder.path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${tab.bearerPrefix}${Buffer.from(by).toString('base64url')}`,
        ...more,
      },
      body: JSON.stringify(qrOrder.body),
    })
    return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) }
  }

  test('pays up to its limit of the day, for its holder only, and once for an Idempotency-Key', async () => {
    const tab = await openTab(service, { bearerSha256, maxPerDayUsd: 0.1 })
    const again = { 'idempotency-key': 'one' }
    expect(await askAsBearer(tab, secret, again)).toMatchObject({
      status: 200,
      body: { receipt: { tab: { authorization: 'bearer' } } },
    })
    expect((await askAsBearer(tab, secret, again)).status).toBe(200)
    const stranger = { status: 402, body: { reason: 'tab_signature_invalid' } }
    expect(await askAsBearer(tab, randomBytes(32))).toMatchObject(stranger)
    expect(await askAsBearer(tab, randomBytes(32), again)).toMatchObject(stranger)
    expect((await askAsBearer(tab, secret)).status).toBe(200)
    expect(await askAsBearer(tab, secret)).toMatchObject({ status: 402, body: { reason: 'tab_limit' } })
  })

  test('pays no more than its limit of the day for requests that come at once, over instances', async () => {
    const tab = await openTab(service, { bearerSha256, maxPerDayUsd: 0.1 })
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) => askAsBearer(tab, secret, {}, index % 2 === 0 ? service : other)),
    )
    const sold = replies.filter(({ status }) => status === 200)
    expect(sold.length).toBeLessThanOrEqual(2)
    const refused = replies.filter(({ status }) => status !== 200)
    for (const reply of refused) expect(reply).toMatchObject({ status: 402, body: { reason: 'tab_limit' } })
    expect(await balanceOf(tab)).toBe(1_000_000_000n - BigInt(sold.length) * qrBaseUnits)
  })

  test('needs a limit that the operator permits', async () => {
    const order = { path: '/api/tabs', body: { depositUsd: 1, bearerSha256, maxPerDayUsd: 2 } }
    expect(await ask(service, order)).toMatchObject({ status: 400, body: { details: [{ field: 'maxPerDayUsd' }] } })
  })
})

describe('the keys of a tab', () => {
  /** Asks for the challenge, and signs it. */
  async function replace(tab: OpenedTab, body: object, signWith: (text: string) => string) {
    const url = `${service.baseUrl}/api/tabs/${tab.tab}`
    const headers = { 'content-type': 'application/json' }
    const asked = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const { challenge, expiresAt } = z
      .object({ challenge: z.string(), expiresAt: z.string() })
      .parse(await asked.json())
    const authorization = signWith(challenge).replace('*', expiresAt)
    return (again: object = body) =>
      fetch(url, { method: 'POST', headers: { ...headers, authorization }, body: JSON.stringify(again) })
  }

  const byWallet = (text: string) => signedByWallet(service.demoWallet)(text)

  test('of a tab without a bearer key stay without one', async () => {
    const tab = await openTab(service)
    const response = await fetch(`${service.baseUrl}/api/tabs/${tab.tab}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sessionKey: tab.key.address, bearerSha256: 'ab'.repeat(32) }),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ details: [{ field: 'bearerSha256' }] })
  })

  test('are replaced by its wallet, at once on every instance, and by one signature once', async () => {
    const tab = await openTab(service)
    const [next, thief] = [newSessionKey(), newSessionKey()]
    expect((await askOnTab(other, tab, qrOrder, { number: 1 })).status).toBe(200)
    const body = { sessionKey: next.address }
    for (const { address, privateKey } of [tab.key, thief])
      expect((await (await replace(tab, body, signedBy(address, privateKey)))()).status).toBe(401)
    const send = await replace(tab, body, byWallet)
    const sent = [await send({ sessionKey: thief.address }), await send(), await send()]
    expect(sent.map(({ status }) => status)).toEqual([401, 200, 401])
    // This instance has just read the tab with its old keys. While its clock is held, it keeps the tab that it reads.
    clock.hold(true)
    expect((await askOnTab(other, { ...tab, key: next }, otherOrder, { number: 2 })).status).toBe(200)
    expect((await (await replace(tab, { sessionKey: thief.address }, byWallet))()).status).toBe(200)
    // The append refuses what was decided by an earlier reading.
    const asNext = async (number: number) => (await askOnTab(other, { ...tab, key: next }, qrOrder, { number })).body
    expect(await asNext(4)).toMatchObject({ reason: 'tab_key_replaced' })
    clock.hold(false)
    expect(await asNext(5)).toMatchObject({ reason: 'tab_signature_invalid' })
  })
})

describe('the end of a tab', () => {
  async function close(tab: OpenedTab, key = tab.key) {
    const response = await closeTab(service.baseUrl, { ...tab, key })
    return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) }
  }

  test('owes the whole rest to the wallet that paid, and no instance takes a further debit', async () => {
    const tab = await openFinalTab(service)
    expect((await askOnTab(other, tab, qrOrder, { number: 1 })).status).toBe(200)
    const restBaseUnits = (await balanceOf(tab)).toString()
    expect(await close(tab, newSessionKey())).toMatchObject({ status: 401 })
    const closed = { closed: true, wallet: service.payer.address, restBaseUnits }
    expect(await close(tab)).toMatchObject({ status: 200, body: { data: closed } })
    expect(await close(tab), 'a repeated closing').toMatchObject({ status: 200, body: { data: closed } })
    for (const [each, number] of [
      [service, 2],
      [other, 3],
    ] as const)
      expect(await askOnTab(each, tab, qrOrder, { number })).toMatchObject({
        status: 402,
        body: { reason: 'tab_closed' },
      })
    const shown = await fetch(`${service.baseUrl}/api/tabs/${tab.tab}`)
    expect(await shown.json()).toMatchObject({ data: { state: 'closed', balanceBaseUnits: '0' } })
  })

  test('wins against debits that race it, and every base unit is spent or owed', async () => {
    const tab = await openFinalTab(service)
    const deposit = await balanceOf(tab)
    const [closed, ...replies] = await Promise.all([
      close(tab),
      ...Array.from({ length: 16 }, (_, index) => {
        const order = { ...qrOrder, body: { data: `race ${index}` } }
        return askOnTab(index % 2 === 0 ? service : other, tab, order, { number: index + 1 })
      }),
    ])
    expect(closed).toMatchObject({ status: 200 })
    const sold = replies.filter(({ status }) => status === 200).length
    await close(tab)
    const { rows } = await admin.query<{ rest: string }>(
      `select sum((convert_from(e.body, 'UTF8')::jsonb ->> 'restBaseUnits')::numeric)::text as rest from ledger.events e
      where e.kind in ('TabClosed', 'TabRestOwed') and convert_from(e.body, 'UTF8')::jsonb ->> 'tab' = $1`,
      [tab.tab],
    )
    expect(BigInt(rows[0]?.rest ?? 0) + BigInt(sold) * qrBaseUnits).toBe(deposit)
    expect(await balanceOf(tab)).toBe(0n)
  })

  test('is public with what its wallet holds', async () => {
    const response = await fetch(`${service.baseUrl}/api/tabs/custody`)
    expect(await response.json()).toMatchObject({
      data: { isCovered: true, wallet: service.tabWallet.publicKey.toBase58() },
    })
  })
})

test('an audit replays deposits and debits, verifies the signatures, and the chain has every deposit', async () => {
  service.chain.advanceSlots(40)
  const report = await audit({
    source: { kind: 'database', url: service.database.serviceUrl },
    verifierKeys: [],
    ownCheckpoints: [],
    transactions: true,
    chain: {
      rpcUrl: service.chain.rpcUrl,
      paymentWallet: service.paymentWallet.publicKey.toBase58(),
      // The two deposits that bought nothing may still be presented.
      recordedWithinMs: 60 * 60 * 1000,
      fetch: globalThis.fetch,
    },
    resumeFile: undefined,
    clock: systemClock,
  })
  expect(report.findings.map(({ code, subject, message }) => `${code} ${subject}: ${message}`)).toEqual([])
  expect(report.verdicts.chainTruth).toMatchObject({ status: 'holds' })
})
