import { expect, test } from 'vitest'
import type { AccessHolder, FinanceRole } from '../../src/financeApi/financeAccess.ts'
import { createFinanceRoutes } from '../../src/financeApi/financeRoutes.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { Reports } from '../../src/reports/reports.ts'
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

function openRoutes(roles: readonly FinanceRole[] = ['finance'], network = 'solana:local') {
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
  ['reason', { reason: '' }],
  ['amountBaseUnits', { amountBaseUnits: '0.5' }],
  ['amountBaseUnits', { amountBaseUnits: '-1' }],
  ['action', { action: 'pay' }],
  ['payment', { payment: 'hello' }],
])('a decision is refused by its field %s: %o', async (field, wrong) => {
  const body = { action: 'approve', payment: reference, reason: 'asked', ...wrong }
  const refused = await openRoutes()('/api/finance/decisions', { body })
  expect(refused).toMatchObject({ status: 400, body: expect.stringContaining(`"details":[{"field":"${field}"`) })
})

test('an answer with chosen columns has no other column, in its totals either', async () => {
  expect(await dataOf('/api/finance/burns', { query: 'columns=burnedBaseUnits' })).toMatchObject({
    rows: [{ burnedBaseUnits: '2' }],
    totals: { burnedBaseUnits: '2' },
  })
  const { totals } = Object(await dataOf('/api/finance/burns', { query: 'columns=burnedBaseUnits' }))
  expect(Object.keys(totals)).toEqual(['burnedBaseUnits'])
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
