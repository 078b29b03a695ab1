import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { assert, assertPresent } from '@tollbook/core/assert'
import { readAddress } from '@tollbook/core/address'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { nextMonth } from '@tollbook/core/closingStatement'
import { sampleDollarMint } from '../../src/cli/local/provisionDollar.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { reportCommand } from '../../src/cli/report.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { readBurnDebt } from '../../src/reports/burnDebt.ts'
import { exportLedger } from '../../src/reports/export/exportLedger.ts'
import { readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { createReports } from '../../src/reports/reports.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { sealNext } from '../../src/store/sealer.ts'
import { openTerminal } from '../cli/support/terminal.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, sampleMint, samplePrice } from '../store/samplePayment.ts'
import { createTestDatabase } from '../support/database.ts'
import { readCsv } from './readCsv.ts'
import { recordPayout } from './recordPayout.ts'
import { seedPayment, type SeededPayment } from './seedPayment.ts'

/* A ledger that sells in the token and in dollars: each report is about one mint, and every mint has each report. */

const dayMs = 86_400_000
const paidMs = systemClock.nowMs() - dayMs
const month = isoTime(paidMs).slice(0, 7)
const { serviceUrl, adminUrl } = await createTestDatabase()
const admin = openSessions(adminUrl)
const ledger = await openInstance(serviceUrl)
const key = makeReceiptKey()
const wallet = sampleAddress()
const inToken = samplePrice('/api/data/weather', 3_000_000n)
const dollarMint = assertPresent(readAddress(sampleDollarMint), 'the mint is an address')
const dollar = { mint: dollarMint, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
const inDollars = assertPresent(dollarPrices([inToken], dollar, defaultSplit)[0], 'the price is above the minimum')
const reports = createReports(ledger.database, { mint: sampleMint, decimals: 6 })
const dollarReports = await sellInBoth()

async function sellInBoth() {
  await ledger.priceLists.publish({
    kind: 'PriceListPublished',
    source: 'fixed',
    split: defaultSplit,
    prices: [inToken, inDollars],
  })
  // The first sale is in dollars, and the wallet is owed a refund in each mint.
  for (const price of [inDollars, inToken])
    for (const end of ['refund_due', 'finalized', 'finalized'] as const)
      await seedPayment(ledger, paymentOf(price, end))
  await payRefund(dollarMint, 10_000n)
  const sign = (tree: { size: number; root: Uint8Array }) =>
    signCheckpoint({ origin: 'tollbook/mints', ...tree }, ed25519Signer(key))
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
  while ((await rollUp(ledger.database)) > 0);
  return reports.inMint('usdc')
}

function paymentOf(price: typeof inToken, end: SeededPayment['end']): SeededPayment {
  const { endpoint, requiredBaseUnits } = price
  const owner = end === 'refund_due' ? wallet : sampleAddress()
  return { wallet: owner, endpoint, requiredBaseUnits, overpaidBaseUnits: 0n, blockTimeMs: paidMs, end, price }
}

async function payRefund(mint: typeof sampleMint, paidBaseUnits: bigint): Promise<void> {
  const payments = [{ account: `Liabilities:RefundsDue:${wallet}` as const, wallet, paidBaseUnits }]
  await recordPayout(admin, { planId: `payout_${'a'.repeat(32)}`, payments, effectiveAtMs: paidMs, mint })
}

const terminal = await openTerminal()
const run = (...words: readonly string[]) =>
  terminal.run(
    (deps) =>
      reportCommand({
        ...deps,
        databaseUrl: () => Promise.resolve(serviceUrl),
        receiptKey: () => Promise.resolve(key),
        clock: systemClock,
      }),
    ...words,
  )

const question = (report: 'payments' | 'liabilities' | 'refunds' | 'payouts') => {
  const read = readQuestion(report, {})
  assert(!isProblems(read), 'no parameter is a question')
  return read
}

test('a report names its mint, and the one without a choice says which other mints the ledger has', async () => {
  const inUsdc = await run('burns', '--mint', 'USDC', '--format', 'json')
  expect(inUsdc).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(inUsdc.stdout)).toMatchObject({ mint: sampleDollarMint, decimals: 6 })
  const inToken = await run('liabilities')
  expect(inToken.stderr).toContain('in TOKEN only: the ledger also has USDC (--mint)')
  expect((await run('closing', '--month', month, '--mint', sampleDollarMint)).stdout).toContain(
    `mint ${sampleDollarMint}\n`,
  )
  const unknown = await run('burns', '--mint', 'EUR')
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringMatching(/--mint: must be TOKEN .*, USDC/)])
})

test('the totals of each mint are those of its sales, with the dollars of the sale', async () => {
  const price = inDollars.requiredBaseUnits
  const { read } = await dollarReports.table('payments', question('payments'))
  expect(read.rows).toHaveLength(3)
  expect(read.rows.every((row) => row['priceMicroUsd'] === 10_000 && row['requiredBaseUnits'] === price)).toBe(true)
  expect(read.totals).toMatchObject({ receivedBaseUnits: 3n * price, burnedBaseUnits: 0n })
  const owed = await dollarReports.table('liabilities', question('liabilities'))
  expect(owed.read.totals).toMatchObject({ owedBaseUnits: 2n * price })
  expect(await reports.summary()).toMatchObject({
    read: {
      mint: sampleMint,
      mints: [
        { name: 'TOKEN', mint: sampleMint },
        { name: 'USDC', mint: sampleDollarMint },
      ],
    },
  })
})

test('an answer with chosen columns has no other column, in its totals and on the command line either', async () => {
  const columns = ['reference', 'receivedBaseUnits']
  const { read } = await reports.table('payments', { ...question('payments'), columns })
  expect([read.columns, read.rows.length]).toEqual([columns, 3])
  for (const row of read.rows) expect(Object.keys(row)).toEqual(columns)
  expect(Object.keys(read.totals ?? {})).toEqual(['receivedBaseUnits'])
  const { stdout } = await run('payments', '--format', 'json', '--columns', 'receivedBaseUnits')
  expect(Object.keys(JSON.parse(stdout).rows[0])).toEqual(['receivedBaseUnits'])
})

test('a payout of one mint pays no debt of the other', async () => {
  const refunds = await reports.refundsOf(wallet)
  const states = refunds.map(({ mint, state, paidBaseUnits }) => ({ mint, state, paidBaseUnits }))
  expect(states).toEqual([
    { mint: sampleDollarMint, state: 'paid', paidBaseUnits: 10_000n },
    { mint: sampleMint, state: 'due', paidBaseUnits: 0n },
  ])
  const { read } = await dollarReports.table('payouts', question('payouts'))
  expect(read.rows).toMatchObject([{ paidBaseUnits: 10_000n }])
  expect((await reports.table('payouts', question('payouts'))).read.rows).toEqual([])
})

test('a statement of a wallet has its payments of every mint, and a file of a report names its mint', async () => {
  const lines = (await text((await reports.statement({ wallet, month })).read)).trimEnd().split('\r\n')
  expect(lines[0]).toMatch(/,mint$/)
  expect(lines.slice(1).map((line) => line.split(',').at(-1))).toEqual([sampleMint, sampleDollarMint])
  const csv = (await text((await dollarReports.csv('payments', question('payments'))).read)).trimEnd().split('\r\n')
  expect(csv.slice(1).every((line) => line.endsWith(`,${sampleDollarMint}`))).toBe(true)
  const chosen = { ...question('payments'), columns: ['reference', 'state'] }
  const narrow = await text((await dollarReports.csv('payments', chosen)).read)
  expect(narrow.split('\r\n')[0], 'the chosen columns and no other').toBe('reference,state')
})

test('the statements of a month are one for each mint, and neither carries the balances of the other', async () => {
  const nowMs = Date.parse(`${nextMonth(month)}-03T00:00:00.000Z`)
  const [one, other] = [await reports.closing({ month, nowMs }), await dollarReports.closing({ month, nowMs })]
  expect([one.statement.mint, other.statement.mint]).toEqual([sampleMint, sampleDollarMint])
  const price = String(3n * inDollars.requiredBaseUnits)
  expect(other.statement.totals).toMatchObject({
    received: { baseUnits: price, atQuotedPriceMicroUsd: '30000', atDayPriceMicroUsd: '30000' },
    burned: { baseUnits: '0' },
    burnOwed: { baseUnits: '0' },
    refunded: { baseUnits: '10000' },
  })
  // Burned by two callers, and owed for two sales in dollars.
  expect(one.statement.totals).toMatchObject({
    burned: { baseUnits: String(3n * inToken.burnBaseUnits) },
    burnOwed: { baseUnits: String(2n * inToken.burnBaseUnits) },
    refunded: { baseUnits: '0' },
  })
})

test('the export of payments has the burn in the token that each sale in dollars promised', async () => {
  const rows = readCsv(await exported('csv', 'payments'))
  const promised = rows.filter((row) => row['token_burn_mint'] === sampleMint)
  expect(promised.map((row) => [row['mint'], row['state'], row['token_burn_base_units']])).toEqual(
    [1, 2].map(() => [dollarMint, 'fulfilled', String(inToken.burnBaseUnits)]),
  )
  expect(rows.filter((row) => row['token_burn_mint'] === '').map((row) => row['token_burn_base_units'])).toEqual([
    '0',
    '0',
    '0',
    '0',
  ])
  const { rows: owed } = await admin.query<{ balance: string }>(
    "select balance::text from ledger.accounts where name = 'Assets:TokensToDeliver'",
  )
  expect(owed).toEqual([{ balance: String(2n * inToken.burnBaseUnits) }])
})

test('an exported burn in the token of a sale in dollars has no quoted price, and the value of its day', async () => {
  const rows = readCsv(await exported('csv', 'entries'))
  const isBurn = (row: (typeof rows)[number]) => row['kind'] === 'BurnOwed' && row['mint'] === sampleMint
  const burns = rows.filter(isBurn)
  expect(burns.map((row) => row['usd_at_quoted_price'])).toEqual(['', '', '', ''])
  expect(burns.every((row) => Number(row['usd_at_day_price']) > 0)).toBe(true)
  const verified = rows.filter((row) => row['kind'] === 'PaymentVerified')
  expect(verified.every((row) => Number(row['usd_at_quoted_price']) > 0)).toBe(true)
})

test('a journal calls a known dollar by its symbol, and the token of the first price list TOKEN', async () => {
  const journal = await exported('hledger', 'entries')
  expect(journal).toContain(`commodity 1.000000 TOKEN  ; mint: ${sampleMint}`)
  expect(journal).toContain(`commodity 1.000000 USDC  ; mint: ${sampleDollarMint}`)
  expect(journal).toMatch(/Liabilities:BurnOwed {2}-0\.900000 TOKEN/)
  expect(journal).toMatch(/^P \S+ USDC 1\.?0* USD$/m)
})

test('a payment that was never verified is in a statement once, and a refund that was paid in parts has its last payout', async () => {
  const owner = sampleAddress()
  const due = { ...paymentOf(inToken, 'refund_due'), wallet: owner }
  const first = await seedPayment(ledger, due)
  const second = await seedPayment(ledger, { ...due, blockTimeMs: paidMs + 1 })
  const submitted = await seedPayment(ledger, { ...due, end: 'submitted' })
  const account = `Liabilities:RefundsDue:${owner}` as const
  const owed = inToken.requiredBaseUnits - inToken.burnBaseUnits
  for (const [nth, paidBaseUnits] of [1n, owed - 1n].entries())
    await recordPayout(admin, {
      planId: `payout_${String(nth).repeat(32)}`,
      payments: [{ account, wallet: owner, paidBaseUnits }],
      effectiveAtMs: paidMs + 10_000 * (nth + 1),
    })
  const rows = readCsv(await text((await reports.statement({ wallet: owner, month })).read))
  const listed = rows.map(({ reference = '' }) => reference)
  expect(listed).toHaveLength(3)
  expect(new Set(listed)).toEqual(new Set([first, second, submitted]))
  const last = isoTime(paidMs + 20_000)
  expect(rows.find(({ reference }) => reference === first)).toMatchObject({ refund: 'paid', refundedAt: last })
  // The payouts paid the first debt of the account, and a detail of the second one alone says so too.
  const detail = await reports.payment(second)
  expect(detail?.refunds).toMatchObject([{ reference: second, state: 'due', paidBaseUnits: '0' }])
  expect(detail?.payouts.map(({ paidAt }) => paidAt)).toEqual([last, isoTime(paidMs + 10_000)])
})

test('a trial balance up to a day is valued at the price of that day, whatever the token costs later', async () => {
  const read = readQuestion('trial-balance', { to: isoTime(paidMs).slice(0, 10) })
  assert(!isProblems(read), 'a day is a question')
  const valuesOf = async () => (await reports.table('trial-balance', read)).read.rows
  const before = await valuesOf()
  await admin.query(
    `insert into reports.day_prices select mint, '2999-01-01', price_micro_usd * 2, required, 1 from reports.day_prices`,
  )
  expect(before.some((row) => Number(row['closingAtDayPriceMicroUsd']) > 0)).toBe(true)
  expect(await valuesOf()).toEqual(before)
})

test('the oldest burn that is owed is of a sale that stands, and not of one that the chain dropped', async () => {
  const price = { ...inToken, mint: sampleAddress() }
  const sell = (end: 'reversed_served' | 'fulfilled', blockTimeMs: number) =>
    seedPayment(ledger, { ...paymentOf(price, end), blockTimeMs, isPaidWhole: true })
  await sell('reversed_served', paidMs)
  const dropped = await readBurnDebt(ledger.database, price.mint)
  expect(dropped).toMatchObject({ owedBaseUnits: 0n, oldestOwedAtMs: undefined })
  const betweenMs = systemClock.nowMs()
  await sell('fulfilled', paidMs)
  const { oldestOwedAtMs = 0, owedBaseUnits } = await readBurnDebt(ledger.database, price.mint)
  expect(owedBaseUnits).toBe(price.burnBaseUnits)
  expect(oldestOwedAtMs).toBeGreaterThanOrEqual(betweenMs)
})

async function exported(format: 'csv' | 'hledger', table: 'payments' | 'entries'): Promise<string> {
  const chunks: string[] = []
  await exportLedger(ledger.database, {
    format,
    table,
    from: undefined,
    to: undefined,
    verifierKey: undefined,
    signal: new AbortController().signal,
    write: async (chunk) => void chunks.push(String(chunk)),
  })
  return chunks.join('')
}
