import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { signCheckpoint } from '@tollbook/core/checkpoint'
import { nextMonth } from '@tollbook/core/closingStatement'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { ed25519Signer } from '@tollbook/core/ed25519'
import { prepaidOn } from '../../src/accounting/account.ts'
import { makeReceiptKey } from '../../src/cli/local/home.ts'
import { readBurnDebt } from '../../src/reports/burnDebt.ts'
import { exportLedger } from '../../src/reports/export/exportLedger.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import type { ReportRow } from '../../src/reports/reportTable.ts'
import { createReports } from '../../src/reports/reports.ts'
import { allPages, readQuestion, readReport, type ReportName } from '../../src/reports/readReport.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { type Database, readRows } from '../../src/store/database.ts'
import { sealNext } from '../../src/store/sealer.ts'
import { makeWallet } from '../audit/signedPayment.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleMint, samplePrice } from '../store/samplePayment.ts'
import { tamper } from '../store/tamper.ts'
import { newSessionKey } from '../tabs/tabClient.ts'
import { readCsv } from './readCsv.ts'
import { recordBurn } from './recordBurn.ts'
import { openRecorder, recordTabs, tabAmounts, tabPriceList } from './recordTabs.ts'

const { serviceUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const token = { mint: sampleMint, decimals: 6 }
const reports = createReports(ledger.database, token)
const payer = makeWallet()
const nowMs = systemClock.nowMs()
const today = isoTime(nowMs)

await ledger.priceLists.publish(tabPriceList)
const { busy, closed, dropped } = await recordTabs(ledger, { payer, origin: 'tollbook/books', nowMs })
// Small steps, so that the events of a debit fall into different ones.
while ((await rollUp(ledger.database, 3)) > 0);

const { deposit, fixed, metered } = tabAmounts
const hold = fixed
// Four sales at a fixed price and two by use on the first tab; one on each of the other two.
const sold = 6n * fixed + 2n * metered

async function rowsOf(report: ReportName, given: Record<string, string> = {}): Promise<readonly ReportRow[]> {
  const question = readQuestion(report, given)
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  const rows: ReportRow[] = []
  for await (const page of allPages(ledger.database, { report, token, ...question })) rows.push(...page)
  return rows
}

const sumOf = (rows: readonly ReportRow[], column: string) =>
  rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n)
const balances = new Map((await trialBalance(ledger.database)).map(({ account, baseUnits }) => [account, baseUnits]))
const held = (tab: string) => -(balances.get(prepaidOn(tab)) ?? 0n)

test('each sale on a tab is one payment that receives nothing, and a deposit is never a sale', async () => {
  const rows = await rowsOf('payments')
  const sales = rows.filter(({ endpoint, state }) => state === 'fulfilled' && !String(endpoint).startsWith('/api/tabs'))
  expect(sales).toHaveLength(8)
  expect(sales.map(({ reference }) => reference)).toContain(`tab:${busy}:5`)
  expect(-sumOf(sales, 'prepaidBaseUnits')).toBe(sold)
  expect(sumOf(sales, 'receivedBaseUnits')).toBe(0n)
  const shared = (some: readonly ReportRow[]) =>
    ['provider', 'holders', 'treasury'].reduce((sum, name) => sum + sumOf(some, `${name}BaseUnits`), 0n)
  expect(shared(rows) + sumOf(rows, 'burnOwedBaseUnits')).toBe(sold)
  const deposits = rows.filter(({ endpoint }) => endpoint === '/api/tabs#5')
  expect([deposits.length, shared(deposits), sumOf(deposits, 'owedBaseUnits')]).toEqual([4, 0n, 0n])
  for (const row of rows)
    expect(sumOf([row], 'receivedBaseUnits') + sumOf([row], 'lostBaseUnits')).toBe(
      ['unearned', 'burnOwed', 'owed', 'prepaid'].reduce(
        (sum, name) => sum + sumOf([row], `${name}BaseUnits`),
        shared([row]),
      ),
    )
})

test('sales on tabs are in the sums of their endpoint and their wallet, and of the month', async () => {
  const ofEndpoints = await rowsOf('distributions', { by: 'endpoint' })
  const chat = ofEndpoints.find(({ endpoint }) => endpoint === '/api/ai/chat')
  expect(sumOf(chat === undefined ? [] : [chat], 'prepaidBaseUnits')).toBe(-2n * metered)
  const deposited = ofEndpoints.find(({ endpoint }) => endpoint === '/api/tabs#5')
  expect(deposited).toMatchObject({ allocatedBaseUnits: 0n })
  const burnOwed = sumOf(ofEndpoints, 'burnOwedBaseUnits')
  for (const by of ['day', 'endpoint', 'wallet'])
    expect(sumOf(await rowsOf('distributions', { by }), 'allocatedBaseUnits')).toBe(sold - burnOwed)
  const [{ payments = 0 } = {}] = (await rowsOf('burns', { month: today.slice(0, 7) })).slice(0, 1)
  expect(payments).toBe(3 + 8)
  const revenue = (await reports.money()).endpoints.reduce(
    (sum, { allocatedBaseUnits }) => sum + allocatedBaseUnits,
    0n,
  )
  expect(revenue).toBe(sold - burnOwed)
})

test('a page of tabs reads the events of its tabs, not of every tab', async () => {
  const eventsRead = (limit: string) =>
    ledger.database.transaction().execute(async (transaction) => {
      // A few tabs are sorted faster than they are read in order.
      await sql`set local enable_sort = off`.execute(transaction)
      const before = await countEvents(transaction)
      await readReport(transaction, { report: 'tabs', token, ...mustRead('tabs', { limit }) })
      return (await countEvents(transaction)) - before
    })
  expect(await eventsRead('1')).toBeLessThan(await eventsRead('50'))
})

async function countEvents(transaction: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
    where relname like 'events\\_%'`.execute(transaction)
  return rows[0]?.count ?? 0
}

test('what tabs hold is a liability by the month of its deposit, to the base unit, and no refund', async () => {
  const whole = held(busy)
  expect([held(closed), held(dropped)]).toEqual([0n, 0n])
  expect(whole).toBe(2n * deposit - 4n * fixed - 2n * metered - hold)
  const [row] = await rowsOf('prepaid')
  expect(row).toMatchObject({
    month: today.slice(0, 7),
    deposits: 2,
    depositedBaseUnits: 2n * deposit,
    unspentBaseUnits: whole,
    unspentAtDayPriceMicroUsd: Number(whole / 1_000n),
  })
  const refunds = await rowsOf('liabilities', { owedTo: 'wallets' })
  expect(refunds.map(({ owedBaseUnits }) => owedBaseUnits)).toEqual([deposit - fixed])
  const { read } = await reports.summary()
  expect(read).toMatchObject({ refundsDueBaseUnits: String(deposit - fixed) })
})

test('the oldest burn that is owed is that of the first charge, because no sale on a tab contains its burn', async () => {
  const [first] = await readRows(ledger.database, 'the first charge')<{ at: Date; burn: string }>`
    select effective_at as at, convert_from(body, 'UTF8')::jsonb ->> 'burnBaseUnits' as burn
    from ledger.events where kind = 'TabCaptured' order by seq limit 1`
  expect(Number(first?.burn)).toBeGreaterThan(0)
  expect((await readBurnDebt(ledger.database, sampleMint)).oldestOwedAtMs).toBe(first?.at.getTime())
})

test('a closed tab is a refund due to its wallet', async () => {
  expect(await rowsOf('refunds')).toMatchObject([
    {
      reference: `tab:${closed}`,
      wallet: payer.address,
      cause: 'tab_closed',
      refund: 'due',
      owedBaseUnits: deposit - fixed,
    },
  ])
})

test('the list of tabs has what each received, spent, gave back and holds', async () => {
  const rows = await rowsOf('tabs', { wallet: payer.address })
  const byTab = new Map(rows.map((row) => [row['tab'], row]))
  expect(rows).toHaveLength(3)
  expect(byTab.get(busy)).toMatchObject({
    state: 'open',
    deposits: 2,
    depositedBaseUnits: 2n * deposit,
    balanceBaseUnits: held(busy),
  })
  expect(byTab.get(closed)).toMatchObject({
    state: 'closed',
    spentBaseUnits: fixed,
    returnedBaseUnits: deposit - fixed,
    balanceBaseUnits: 0n,
  })
  // The chain dropped its deposit: it received what it had spent.
  expect(byTab.get(dropped)).toMatchObject({ depositedBaseUnits: fixed, spentBaseUnits: fixed, balanceBaseUnits: 0n })
  const ofWallet = await reports.table('tabs', mustRead('tabs', { wallet: payer.address }))
  expect(ofWallet.read.totals, 'a total of all wallets would be misread').toBeUndefined()
  const paged = await reports.table('tabs', { ...mustRead('tabs', { limit: '1' }) })
  expect(paged.read.totals).toEqual({ balanceBaseUnits: held(busy) })
  const second = await reports.table('tabs', mustRead('tabs', { limit: '1', cursor: String(paged.read.next) }))
  expect([paged.read.rows[0]?.['tab'], second.read.rows[0]?.['tab']]).toEqual([...byTab.keys()].slice(0, 2))
})

function mustRead(report: ReportName, given: Record<string, string>) {
  const question = readQuestion(report, given)
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  return question
}

test.each([
  { name: 'a tab in use', tab: busy },
  { name: 'a closed tab', tab: closed },
  { name: 'a tab whose deposit was dropped', tab: dropped },
])('the statement of $name ends at its balance, in any size of page', async ({ tab }) => {
  const rows = await rowsOf('tab-statement', { tab })
  expect(rows.at(-1)?.['balanceBaseUnits']).toBe(held(tab))
  expect(sumOf(rows, 'changeBaseUnits')).toBe(held(tab))
  const paged: ReportRow[] = []
  let cursor: string | undefined
  do {
    const { read } = await reports.table(
      'tab-statement',
      mustRead('tab-statement', { tab, limit: '2', ...(cursor && { cursor }) }),
    )
    paged.push(...read.rows)
    cursor = read.next
  } while (cursor !== undefined)
  expect(paged).toEqual(rows)
})

test('a statement names each movement, with what a request was charged', async () => {
  const rows = await rowsOf('tab-statement', { tab: busy })
  const of = (number: number) =>
    rows
      .filter(({ reference }) => reference === `tab:${busy}:${number}`)
      .map(({ movement, changeBaseUnits, chargedBaseUnits }) => [movement, changeBaseUnits, chargedBaseUnits])
  expect(of(1)).toEqual([
    ['hold', -fixed, null],
    ['capture', 0n, fixed],
  ])
  const chat = 40_000_000n
  expect(of(3)).toEqual([
    ['hold', -chat, null],
    ['capture', chat - metered, metered],
  ])
  expect(of(5).map(([movement]) => movement)).toEqual(['hold', 'release', 'hold', 'capture'])
  const movements = async (tab: string) => (await rowsOf('tab-statement', { tab })).map(({ movement }) => movement)
  expect(await movements(closed)).toEqual(['deposit', 'hold', 'capture', 'hold', 'return', 'release', 'return'])
  expect(await movements(dropped)).toEqual(['deposit', 'hold', 'capture', 'return', 'dropped'])
  const csv = await text((await reports.csv('tab-statement', mustRead('tab-statement', { tab: busy }))).read)
  expect(csv.split('\r\n')[0]).toBe(
    'at,movement,reference,endpoint,changeBaseUnits,changeTokens,balanceBaseUnits,balanceTokens,chargedBaseUnits,chargedTokens,position,mint',
  )
})

test('the closing statement has deposits apart from revenue and from refunds', async () => {
  const key = ed25519Signer(makeReceiptKey())
  const sign = (tree: { size: number; root: Uint8Array }) => signCheckpoint({ origin: 'tollbook/books', ...tree }, key)
  while ((await sealNext({ ...ledger, sign })).sealedEvents > 0);
  const month = today.slice(0, 7)
  const afterCloseMs = Date.parse(`${nextMonth(month)}-03T00:00:00.000Z`)
  const { totals } = (await reports.closing({ month, nowMs: afterCloseMs })).statement
  const burnOwed = BigInt(totals.burnOwed.baseUnits)
  expect(totals).toMatchObject({
    allocated: { baseUnits: String(sold - burnOwed) },
    refundsArisen: { baseUnits: String(deposit - fixed) },
    prepaid: { baseUnits: String(held(busy)) },
    lost: { baseUnits: String(fixed) },
  })
})

async function exportedPayments() {
  const lines: string[] = []
  await exportLedger(ledger.database, {
    format: 'csv',
    table: 'payments',
    from: undefined,
    to: undefined,
    verifierKey: undefined,
    signal: new AbortController().signal,
    write: async (chunk) => void lines.push(String(chunk)),
  })
  return readCsv(lines.join(''))
}

test('an export of payments has each sale on a tab once, at the amount that was charged', async () => {
  const cells = await exportedPayments()
  const chat = cells.find(({ payment }) => payment === `tab:${busy}:3`)
  const part = (name: string) => BigInt(chat?.[`${name}_base_units`] ?? 0)
  expect(chat).toMatchObject({
    state: 'fulfilled',
    received_base_units: '0',
    paid_by_tab_base_units: String(metered),
    slot: '',
    attempts: '1',
  })
  expect(cells.find(({ payment }) => payment === `tab:${busy}:5`)).toMatchObject({ attempts: '2' })
  expect(part('burn_owed') + part('provider') + part('holders') + part('treasury')).toBe(metered)
  expect(cells.filter(({ payment }) => payment?.startsWith(`tab:${busy}:`))).toHaveLength(9)
})

test('what a tab holds is of its newest deposits, because it spends the oldest one first', async () => {
  const [before, now] = ['2026-01', today.slice(0, 7)]
  await tamper(
    openSessions(adminUrl, 1),
    `update ledger.events set effective_at = '${before}-15' where kind = 'TabOpened'
       and convert_from(body, 'UTF8')::jsonb ->> 'tab' = '${busy}'`,
  )
  expect(await rowsOf('prepaid')).toMatchObject([
    { month: before, depositedBaseUnits: deposit, unspentBaseUnits: held(busy) - deposit },
    { month: now, depositedBaseUnits: deposit, unspentBaseUnits: deposit },
  ])
})

test('an export has a sale that failed and was tried again after the price had risen at the price that it paid', async () => {
  const recorder = openRecorder(ledger, { payer, origin: 'tollbook/books', nowMs })
  const key = newSessionKey()
  const { tab } = await recorder.deposit({ key })
  const before = await recorder.release(await recorder.hold(tab, { number: 1n, key }))
  const price = samplePrice('/api/tools/qrcode', fixed + 1_000_000n)
  await recorder.capture(await recorder.hold(tab, { number: 1n, key, price, before }))
  expect((await exportedPayments()).find(({ payment }) => payment === `tab:${tab}:1`)).toMatchObject({
    state: 'fulfilled',
    required_base_units: String(fixed + 1_000_000n),
    paid_by_tab_base_units: String(fixed + 1_000_000n),
  })
})

test('after a round, the oldest burn that is owed is that of the first charge after it', async () => {
  const [head] = await readRows(ledger.database, 'the head')<{ seq: number }>`select seq from ledger.head`
  const parts = [{ endpoint: '/api/tools/qrcode', baseUnits: 1n }]
  await recordBurn(openSessions(adminUrl), {
    mint: sampleMint,
    parts,
    effectiveAtMs: nowMs,
    throughPosition: head?.seq ?? 0,
  })
  const recorder = openRecorder(ledger, { payer, origin: 'tollbook/books', nowMs: nowMs + 1_000 })
  const key = newSessionKey()
  const { tab } = await recorder.deposit({ key })
  await recorder.capture(await recorder.hold(tab, { number: 1n, key }))
  const [newest] = await readRows(ledger.database, 'the newest charge')<{ at: Date }>`
    select effective_at as at from ledger.events where kind = 'TabCaptured' order by seq desc limit 1`
  expect(newest?.at.getTime()).toBeGreaterThan(nowMs)
  expect((await readBurnDebt(ledger.database, sampleMint)).oldestOwedAtMs).toBe(newest?.at.getTime())
})
