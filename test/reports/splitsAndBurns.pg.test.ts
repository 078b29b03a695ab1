import { describe, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { assert } from '@tollbook/core/assert'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit, type SplitShare } from '../../src/pricing/splitSetting.ts'
import { findBurnOf } from '../../src/reports/burnOfPayment.ts'
import { burnStats } from '../../src/reports/burnStats.ts'
import { readReport, readQuestion, type ReportName } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { summary } from '../../src/reports/summary.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, sampleMint, samplePrice } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'
import { recordBurn } from './recordBurn.ts'
import { type SeededPayment, seedPayment } from './seedPayment.ts'

/* Splits of any length, several mints in one ledger, and burns that are owed: nothing of it is a column of a table. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const admin = openSessions(adminUrl)
const { database } = ledger
const otherMint = sampleAddress()
const fiveWays: readonly SplitShare[] = [
  { account: 'burn', perMille: 300 },
  { account: 'provider', perMille: 400 },
  { account: 'holders', perMille: 150 },
  { account: 'treasury', perMille: 50 },
  { account: 'data-partners', perMille: 75 },
  { account: 'paid', perMille: 25 },
]
const endpoint = '/api/data/weather'
const firstDayMs = Date.parse('2026-10-01T12:00:00.000Z')

function priceOf(mint: typeof sampleMint, required: bigint, policy: readonly SplitShare[] = defaultSplit) {
  return { ...samplePrice(endpoint, required), mint, ...split(required, policy) }
}

async function pay(given: Partial<SeededPayment> & Pick<SeededPayment, 'price' | 'end'>): Promise<void> {
  const plain = {
    wallet: sampleAddress(),
    endpoint,
    requiredBaseUnits: 1n,
    overpaidBaseUnits: 0n,
    blockTimeMs: firstDayMs,
  }
  await seedPayment(ledger, { ...plain, ...given })
}

async function read(report: ReportName, mint: string, given: Record<string, string> = {}) {
  while ((await rollUp(database)) > 0);
  const question = readQuestion(report, given)
  assert(!isProblems(question), 'the question is understood')
  return readReport(database, { ...question, report, token: { mint, decimals: 6 } })
}

function stats(mint: string, nowMs = firstDayMs + 3_600_000) {
  const clock = { ...systemClock, nowMs: () => nowMs }
  return burnStats({ database, clock }, { mint, decimals: 6 })
}

async function publish(policy: readonly SplitShare[]): Promise<void> {
  const prices = [priceOf(sampleMint, 10_000_000n, policy)]
  await ledger.priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split: policy, prices })
}

const shareColumns = (columns: readonly string[]) =>
  columns.slice(columns.indexOf('unearnedBaseUnits') + 1, columns.indexOf('owedBaseUnits'))

describe('a split', () => {
  test('names the columns of the reports before anything was paid', async () => {
    await publish(fiveWays)
    expect(shareColumns((await read('payments', sampleMint)).columns)).toEqual([
      'providerBaseUnits',
      'holdersBaseUnits',
      'treasuryBaseUnits',
      'data-partnersBaseUnits',
      'share-paidBaseUnits',
    ])
  })

  test('of five shares is summed share by share, exactly', async () => {
    await pay({ price: priceOf(sampleMint, 10_000_007n, fiveWays), end: 'finalized' })
    await pay({ price: priceOf(sampleMint, 10_000_007n, fiveWays), end: 'reversed_served' })
    const once = {
      providerBaseUnits: 4_000_003n,
      holdersBaseUnits: 1_500_001n,
      treasuryBaseUnits: 500_000n,
      'data-partnersBaseUnits': 750_000n,
      'share-paidBaseUnits': 250_000n,
    }
    const twice = Object.fromEntries(Object.entries(once).map(([column, amount]) => [column, 2n * amount]))
    const { rows, totals } = await read('payments', sampleMint)
    expect(rows).toMatchObject([once, once])
    expect(totals).toMatchObject({ payments: 1, ...twice })
    for (const by of ['day', 'endpoint', 'wallet'])
      expect((await read('distributions', sampleMint, { by })).totals).toMatchObject({
        ...twice,
        allocatedBaseUnits: 14_000_008n,
      })
  })

  test('that is no longer in force keeps its columns after those of the new one', async () => {
    await publish([
      { account: 'burn', perMille: 500 },
      { account: 'treasury', perMille: 500 },
    ])
    const { columns, rows } = await read('distributions', sampleMint)
    expect(columns.slice(4, 9)).toEqual([
      'treasuryBaseUnits',
      'providerBaseUnits',
      'holdersBaseUnits',
      'data-partnersBaseUnits',
      'share-paidBaseUnits',
    ])
    expect(rows.map((row) => row['holdersBaseUnits'])).toContain(3_000_002n)
  })
})

describe('a second mint', () => {
  test('has separate sums in every report, and does not change those of the first', async () => {
    const reports = ['burns', 'distributions', 'payments', 'liabilities', 'trial-balance'] as const
    const before = await Promise.all(reports.map((report) => read(report, sampleMint)))
    await pay({ price: priceOf(otherMint, 1_000n), end: 'fulfilled', overpaidBaseUnits: 7n })
    await pay({ price: priceOf(otherMint, 1_000n), end: 'released' })
    expect(await Promise.all(reports.map((report) => read(report, sampleMint)))).toEqual(before)
    expect((await read('burns', otherMint)).totals).toMatchObject({ payments: 2, burnedBaseUnits: 600n })
    expect((await read('distributions', otherMint)).totals).toMatchObject({
      receivedBaseUnits: 1_407n,
      providerBaseUnits: 500n,
      holdersBaseUnits: 150n,
      treasuryBaseUnits: 50n,
    })
    expect((await read('liabilities', otherMint)).totals).toEqual({ owedBaseUnits: 1_407n })
    expect((await read('payments', otherMint)).rows).toHaveLength(2)
    expect(await stats(otherMint)).toMatchObject({ total: { baseUnits: '600', payments: 2 } })
  })

  test('balances to zero, as the first one does', async () => {
    const balances = await trialBalance(database)
    for (const mint of [sampleMint, otherMint])
      expect(balances.filter((row) => row.mint === mint).reduce((sum, row) => sum + row.baseUnits, 0n)).toBe(0n)
  })
})

test('exposure is not money: no report and no trial balance has a Memo account', async () => {
  const { rows } = await admin.query(`select name from ledger.accounts where name like 'Memo:%'`)
  expect(rows.length).toBeGreaterThan(0)
  expect((await trialBalance(database)).filter(({ account }) => account.startsWith('Memo:'))).toEqual([])
  const { rows: totals } = await admin.query(`select from reports.daily_totals where account like 'Memo:%'`)
  expect(totals).toEqual([])
})

describe('a burn that is owed', () => {
  const mint = sampleAddress()
  const price = priceOf(mint, 1_000_000n)
  const other = { ...price, endpoint: '/api/data/crypto' }

  test('is kept apart from burned tokens, in reports and statistics', async () => {
    await pay({ price, end: 'finalized', isPaidWhole: true })
    await pay({ price: other, end: 'finalized', isPaidWhole: true })
    await pay({ price, end: 'finalized' })
    await pay({ price, end: 'reversed', isPaidWhole: true })
    expect((await read('burns', mint)).totals).toEqual({
      payments: 3,
      burnedBaseUnits: 300_000n,
      burnedMicroUsd: 3_000,
      burnOwedBaseUnits: 600_000n,
      burnOwedMicroUsd: 6_000,
      // Payments of a closed month give no day a price.
      burnedAtDayPriceMicroUsd: 0,
      burnOwedAtDayPriceMicroUsd: 0,
      burnConfirmedAtDayPriceMicroUsd: 0,
      burnConfirmedBaseUnits: 0n,
      promisedBaseUnits: 0n,
      deliveredBaseUnits: 0n,
    })
    expect(await summary(database, { mint, decimals: 6 })).toMatchObject({
      payments: 3,
      burnedBaseUnits: '300000',
      burnOwedBaseUnits: '600000',
      refundsDueBaseUnits: '0',
    })
    expect(await stats(mint)).toMatchObject({
      total: { baseUnits: '300000', payments: 1 },
      owed: { tokens: 0.6, baseUnits: '600000' },
    })
  })

  test('becomes burned when the burn is confirmed, per endpoint, and was never a payout', async () => {
    const parts = [price, other].map(({ endpoint }) => ({ endpoint, baseUnits: 300_000n }))
    await recordBurn(admin, { mint, parts, effectiveAtMs: firstDayMs })
    expect((await read('burns', mint)).totals).toEqual({
      payments: 3,
      burnedBaseUnits: 300_000n,
      burnedMicroUsd: 3_000,
      burnOwedBaseUnits: 600_000n,
      burnOwedMicroUsd: 6_000,
      // Payments of a closed month give no day a price.
      burnedAtDayPriceMicroUsd: 0,
      burnOwedAtDayPriceMicroUsd: 0,
      burnConfirmedAtDayPriceMicroUsd: 0,
      burnConfirmedBaseUnits: 600_000n,
      promisedBaseUnits: 0n,
      deliveredBaseUnits: 0n,
    })
    expect((await read('burns', mint, { by: 'endpoint' })).rows).toMatchObject([
      { endpoint: other.endpoint, burnedBaseUnits: 0n, burnConfirmedBaseUnits: 300_000n },
      { endpoint: price.endpoint, burnedBaseUnits: 300_000n, burnConfirmedBaseUnits: 300_000n },
    ])
    expect((await read('distributions', mint)).totals).toMatchObject({
      receivedBaseUnits: 2_700_000n,
      paidOutBaseUnits: 0n,
      burnPaidBaseUnits: 600_000n,
    })
    expect(await stats(mint)).toMatchObject({
      total: { baseUnits: '900000' },
      byEndpoint: [
        { endpoint: other.endpoint, baseUnits: '300000' },
        { endpoint: price.endpoint, baseUnits: '600000' },
      ],
      owed: { baseUnits: '0' },
    })
    const { rows } = await read('trial-balance', mint)
    const closing = rows.find(({ account }) => account === 'Liabilities:BurnOwed')
    expect(closing).toMatchObject({ closingDebitBaseUnits: 0n, closingCreditBaseUnits: 0n })
  })
})

test('a reversed burn leaves the hour and the day in which it was burned', async () => {
  const mint = sampleAddress()
  const price = priceOf(mint, 1_000_000n)
  await pay({ price, end: 'fulfilled', blockTimeMs: firstDayMs })
  await pay({ price, end: 'reversed_served', blockTimeMs: firstDayMs })
  await pay({ price, end: 'fulfilled', blockTimeMs: firstDayMs - 30 * 3_600_000 })
  const once = { tokens: 0.3, baseUnits: '300000', payments: 1 }
  expect(await stats(mint)).toEqual({
    mint,
    decimals: 6,
    total: { tokens: 0.6, baseUnits: '600000', payments: 2 },
    last24Hours: once,
    last7Days: { tokens: 0.6, baseUnits: '600000', payments: 2 },
    last30Days: { tokens: 0.6, baseUnits: '600000', payments: 2 },
    byEndpoint: [{ endpoint, tokens: 0.6, baseUnits: '600000', payments: 2 }],
    byDay: [
      { day: '2026-10-01', ...once },
      { day: '2026-09-30', ...once },
    ],
    confirmed: {
      tokens: 0.6,
      baseUnits: '600000',
      insidePayments: { tokens: 0.6, baseUnits: '600000' },
      inRounds: { tokens: 0, baseUnits: '0' },
      lastRound: null,
    },
    owed: { tokens: 0, baseUnits: '0', oldestAt: null },
    ledger: { position: 0, root: null },
    asOf: '2026-10-01T13:00:00.000Z',
  })
  const { totals } = await read('burns', mint, { from: '2026-10-01', to: '2026-10-01' })
  expect(totals).toMatchObject({ payments: 1, burnedBaseUnits: 300_000n })
  const later = await stats(mint, firstDayMs + 10 * 86_400_000)
  expect([later.last24Hours, later.last7Days, later.last30Days].map(({ payments }) => payments)).toEqual([0, 0, 2])
  // The first of the 90 days is shown only while all of it is among them.
  const daysAfter = async (days: number) =>
    (await stats(mint, Date.parse('2026-10-01') + days * 86_400_000)).byDay.map(({ day }) => day)
  expect([await daysAfter(90), await daysAfter(90.5)]).toEqual([['2026-10-01'], []])
})

test('a burn that was owed is of the first round that burned it, however many rounds follow', async () => {
  const mint = sampleAddress()
  const price = priceOf(mint, 1_000_000n)
  const sale = { wallet: sampleAddress(), endpoint, requiredBaseUnits: 1n, overpaidBaseUnits: 0n, isPaidWhole: true }
  const reference = await seedPayment(ledger, { ...sale, price, end: 'finalized', blockTimeMs: firstDayMs })
  expect(await findBurnOf(database, reference)).toMatchObject({ status: 'owed', burn: null })
  for (const round of [1, 2]) {
    const parts = [{ endpoint, baseUnits: 150_000n }]
    await recordBurn(admin, { round, mint, parts, effectiveAtMs: firstDayMs, throughPosition: 1_000_000 })
  }
  expect(await findBurnOf(database, reference)).toMatchObject({ status: 'confirmed', burn: { round: 1 } })
})
