import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { AccessHolder, FinanceRole } from '../../src/financeApi/financeAccess.ts'
import { createFinanceRoutes, type FinanceRouteDeps } from '../../src/financeApi/financeRoutes.ts'
import { isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { ClosingNotReady } from '../../src/reports/closing/closingRange.ts'
import { reportNames, UnknownColumn } from '../../src/reports/readReport.ts'
import { type Reports, UnknownMint } from '../../src/reports/reports.ts'
import type { FreeAction } from '../../src/transport/freeRoute.ts'
import { referenceNumber } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'

/* A ledger of two mints of different decimals: each answer is in the mint of its question, and not in the first one. */

const token = { mint: 'token', name: 'TOKEN', decimals: 6 }
const dollar = { mint: 'dollar', name: 'USDC', decimals: 2 }
const reference = referenceNumber(1)
const mainnet = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const unused = (): never => {
  throw new Error('no test asks for this')
}

function reportsIn(own: typeof token): Reports {
  return {
    token: { mint: own.mint, decimals: own.decimals },
    inMint: () => Promise.resolve(reportsIn(dollar)),
    mints: () => Promise.resolve([token, dollar]),
    summary: () => Promise.resolve({ position: 1, headPosition: 1, read: Object.create(null) }),
    table: () =>
      Promise.resolve({
        position: 1,
        headPosition: 1,
        read: {
          columns: ['day', 'burnedBaseUnits'],
          rows: [{ day: '2026-11-01', burnedBaseUnits: 2n, payments: 1 }],
          totals: { burnedBaseUnits: 2n, payments: 1 },
          next: undefined,
        },
      }),
    payment: () => Promise.resolve(Object.assign(Object.create(null), { mint: dollar.mint, reference })),
    money: unused,
    csv: unused,
    closing: unused,
    refundsNow: unused,
    refundsOf: unused,
    statement: unused,
  }
}

function openRoutes(
  roles: readonly FinanceRole[] = ['finance'],
  network = 'solana:local',
  more: Partial<FinanceRouteDeps> = {},
) {
  const holder: AccessHolder = { subject: 'mira', roles }
  const routes = createFinanceRoutes({
    clock: steppedClock(),
    log: silentLog,
    access: { judge: () => Promise.resolve(holder) },
    reports: reportsIn(token),
    network,
    publicUrl: undefined,
    explain: (subject) =>
      Promise.resolve(Object.assign(Object.create(null), { reference: subject, decimals: dollar.decimals })),
    // As in the ledger: support decides within a limit, which this refund exceeds.
    decideRefund: ({ role }) =>
      Promise.resolve(
        role === 'finance'
          ? { recorded: true, position: 1, leafHash: '', event: 'RefundApproved' }
          : { recorded: false, why: 'it is above the limit of support' },
      ),
    signClosing: unused,
    reconcile: () => Promise.resolve(Object.create(null)),
    walletBaseUnits: (mint) => Promise.resolve(mint === dollar.mint ? 7n : 5n),
    ...more,
  })
  return (path: string, request: Partial<FreeAction> = {}) => {
    const route = routes.find((each) => each.path === path)
    if (route === undefined) throw new Error(`${path} is not a route`)
    const limits = { limitQuotes: () => undefined, limitLookups: () => undefined }
    const facts = { address: '', segment: '', query: '', host: '', requestId: '', body: {}, limits }
    const action: FreeAction = { ...facts, header: () => undefined, ...request }
    return 'body' in request && route.post !== undefined ? route.post(action) : route.serve(action)
  }
}

async function dataOf(...[path, request]: Parameters<ReturnType<typeof openRoutes>>): Promise<unknown> {
  const { body } = await openRoutes(undefined, mainnet)(path, request)
  if (typeof body !== 'string') throw new Error('an answer of JSON is a text')
  return JSON.parse(body).data
}

test('the summary of another mint has the balance on chain of that mint', async () => {
  const summary = '/api/finance/summary'
  expect(await dataOf(summary)).toMatchObject({ paymentWalletOnChainBaseUnits: '5', decimals: 6 })
  expect(await dataOf(summary, { query: 'mint=USDC' })).toMatchObject({
    paymentWalletOnChainBaseUnits: '7',
    decimals: 2,
  })
})

test('a reconciliation and a payment are shown with the decimals of their mint', async () => {
  const query = 'mint=USDC'
  expect(await dataOf('/api/finance/reconciliation', { query })).toEqual({ decimals: 2 })
  const shown = { segment: reference }
  expect(await dataOf('/api/finance/payments/:reference', shown)).toMatchObject({ decimals: 2 })
})

test('an explanation has the decimals of its own mint, and a link to an explorer only for a transaction', async () => {
  const signature = reference.replace('solana:', '')
  const explained = '/api/finance/explain/:subject'
  expect(await dataOf(explained, { segment: reference })).toMatchObject({
    decimals: dollar.decimals,
    links: { explorer: `https://explorer.solana.com/tx/${signature}` },
  })
  expect(await dataOf(explained, { segment: 'tab:4uQeVj5tqViQh7yWWGStvk:1' })).toMatchObject({
    links: { explorer: null },
  })
  // A bare signature names the same payment.
  expect(await dataOf('/api/finance/payments/:reference', { segment: signature })).toMatchObject({
    links: { explorer: `https://explorer.solana.com/tx/${signature}` },
  })
})

test.each([
  ['reason', { reason: 'half of a pair: \ud800' }],
  ['reason', { reason: 'no column of text holds it: \u0000' }],
  ['reason', { reason: '' }],
  ['amountBaseUnits', { amountBaseUnits: '0.5' }],
  ['amountBaseUnits', { amountBaseUnits: '-1' }],
  ['amountBaseUnits', { amountBaseUnits: '1' }],
  ['action', { action: 'pay' }],
  ['payment', { payment: 'hello' }],
])('a decision is refused by its field %s: %o', async (field, wrong) => {
  const body = { action: 'approve', payment: reference, reason: 'asked', ...wrong }
  const refused = await openRoutes()('/api/finance/decisions', { body })
  expect(refused).toMatchObject({ status: 400, body: expect.stringContaining(`"details":[{"field":"${field}"`) })
})

test('the format in the question wins over the one that a browser accepts', async () => {
  const query = 'format=json'
  const { headers } = await openRoutes()('/api/finance/burns', { query, header: () => 'text/csv' })
  expect(headers['content-type']).toContain('application/json')
})

test('a holder of both roles decides as finance, beyond the limit of support', async () => {
  const body = { action: 'approve', payment: reference, reason: 'asked' }
  const statusAs = async (...roles: readonly FinanceRole[]) =>
    (await openRoutes(roles)('/api/finance/decisions', { body })).status
  expect(await statusAs('support')).toBe(409)
  expect(await statusAs('finance', 'support')).toBe(200)
})

test('each route accepts its roles, and its refusal names them', async () => {
  const allowedOf = new Map<string, string>()
  const access: FinanceRouteDeps['access'] = {
    judge({ route, allowed }) {
      allowedOf.set(route, allowed.join())
      return Promise.resolve('forbidden')
    },
  }
  const ask = openRoutes(undefined, undefined, { access })
  const paths = [...reportNames, 'summary', 'reconciliation', 'closing', 'payments/:reference', 'explain/:subject']
  for (const path of paths) expect((await ask(`/api/finance/${path}`)).status).toBe(403)
  const refused = await ask('/api/finance/decisions', { body: {} })
  expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('one of the roles finance, support') })
  expect((await ask('/api/finance/decisions')).status).toBe(405)
  const everyone = ['payments', 'refunds', 'payments/:reference', 'explain/:subject']
  expect(Object.fromEntries(allowedOf)).toEqual({
    ...Object.fromEntries(paths.map((path) => [`/api/finance/${path}`, 'finance,auditor'])),
    ...Object.fromEntries(everyone.map((path) => [`/api/finance/${path}`, 'finance,support,auditor'])),
    '/api/finance/decisions': 'finance,support',
  })
})

test.each<readonly [string, Error, number, string]>([
  ['an unknown mint', new UnknownMint('must be TOKEN'), 400, '"field":"mint","message":"must be TOKEN"'],
  ['an unknown column', new UnknownColumn('must be day'), 400, '"field":"columns","message":"must be day"'],
  ['a tree that lags', new ClosingNotReady('sealed up to 7 of 9'), 503, 'sealed up to 7 of 9; try again in 2 s'],
  ['a lost database', new Fault('secret@db', { retryable: true }), 503, 'the ledger does not answer at the moment'],
])('%s is an answer with its reason, and without secrets', async (_, error, status, words) => {
  const reports = { ...reportsIn(token), table: () => Promise.reject(error) }
  const { body, ...answer } = await openRoutes(undefined, undefined, { reports })('/api/finance/burns')
  expect([answer.status, body]).toEqual([status, expect.stringContaining(words)])
  expect(body).not.toContain('secret')
  expect(answer.headers['retry-after']).toBe(status === 503 ? '2' : undefined)
})

test('a bug of a report is not an answer that hides it', async () => {
  const reports = { ...reportsIn(token), table: () => Promise.reject(new Error('a bug')) }
  await expect(openRoutes(undefined, undefined, { reports })('/api/finance/burns')).rejects.toThrow('a bug')
})

test('a closing statement is of a month that has begun, and is signed', async () => {
  const asked: unknown[] = []
  const reports: Reports = {
    ...reportsIn(token),
    closing: (question) => {
      asked.push(question)
      return Promise.resolve(Object.assign(Object.create(null), { checkpoint: 'note' }))
    },
  }
  const signClosing: FinanceRouteDeps['signClosing'] = (closing) => ({ ...closing, jws: 'signed' })
  const ask = openRoutes(undefined, undefined, { reports, signClosing })
  const closing = (query: string) => ask('/api/finance/closing', { query })
  const { nowMs } = steppedClock()
  const month = isoTime(nowMs()).slice(0, 7)
  expect(await closing(`month=${month}`)).toMatchObject({
    status: 200,
    body: expect.stringContaining('"jws":"signed"'),
  })
  expect(asked).toEqual([{ month, nowMs: nowMs() }])
  const next = isoTime(nowMs() + 31 * 86_400_000).slice(0, 7)
  for (const query of ['', `month=${next}`, 'month=1969-12', 'month=2026-13', `month=${month}-01`])
    expect(await closing(query)).toMatchObject({ status: 400, body: expect.stringContaining('"field":"month"') })
  expect(await closing(`month=${month}&by=day`)).toMatchObject({
    status: 400,
    body: expect.stringContaining('"field":"by","message":"is unknown here; expected month and mint"'),
  })
})

test('a report as CSV is a file of its name, which no cache keeps, with the position of its figures', async () => {
  const csv = () => Promise.resolve({ position: 7, headPosition: 9, read: Readable.from(['day']) })
  const reports = { ...reportsIn(token), csv }
  const ask = openRoutes(undefined, undefined, { reports })
  for (const request of [{ query: 'format=csv' }, { header: () => 'text/html, text/csv' }])
    expect(await ask('/api/finance/burns', request)).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="tollbook-burns.csv"',
        'cache-control': 'no-store',
        'x-ledger-position': '7',
      },
    })
  expect((await ask('/api/finance/burns', { query: 'format=xml' })).status).toBe(400)
})

test('a node that does not answer leaves the figures of the ledger', async () => {
  const walletBaseUnits = () => Promise.reject(new Fault('no node answers', { retryable: true }))
  const { status, body } = await openRoutes(undefined, undefined, { walletBaseUnits })('/api/finance/summary')
  expect([status, body]).toEqual([200, expect.stringContaining('"paymentWalletOnChainBaseUnits":null')])
})

test('a copied reference is read with the spaces around it and an encoded colon', async () => {
  const asked: string[] = []
  const reports: Reports = {
    ...reportsIn(token),
    payment: (text) => {
      asked.push(text)
      return Promise.resolve(undefined)
    },
  }
  const ask = openRoutes(undefined, undefined, { reports })
  const { status } = await ask('/api/finance/payments/:reference', { segment: '%20%0Asolana%3Aabc%20%09' })
  expect([status, asked]).toEqual([404, ['solana:abc']])
})
