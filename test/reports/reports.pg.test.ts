import fc from 'fast-check'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { paymentDetail } from '../../src/reports/paymentDetail.ts'
import { readReference } from '../../src/payment/paymentReference.ts'
import {
  type ReportRequest,
  allPages,
  describeReport,
  readReport,
  readQuestion,
  type ReportName,
  reportNames,
} from '../../src/reports/readReport.ts'
import { reportCsv } from '../../src/reports/reportCsv.ts'
import { groupings, isProblems } from '../../src/reports/reportQuestion.ts'
import { silentLog } from '../../src/machine/log.ts'
import { createReports } from '../../src/reports/reports.ts'
import type { ReportRow } from '../../src/reports/reportTable.ts'
import { reportPosition, rollUp } from '../../src/reports/rollUp.ts'
import { summary } from '../../src/reports/summary.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openInstance, openSessions } from '../store/instance.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'
import { ends, type SeededPayment, seedPayment } from './seedPayment.ts'

const { serviceUrl, ownerUrl, adminUrl } = await createTestDatabase()
const ledger = await openInstance(serviceUrl)
const owner = openSessions(ownerUrl)
const admin = openSessions(adminUrl)
const { database } = ledger
const token = { mint: sampleMint, decimals: 6 }
const firstDayMs = Date.parse('2026-10-01T00:00:00.000Z')

const wallets = Array.from({ length: 5 }, () => sampleAddress())
const endpoints = ['/api/data/crypto', '/api/data/weather', '/api/tools/qrcode']
const seeded = fc.sample(
  fc.record({
    wallet: fc.constantFrom(...wallets),
    endpoint: fc.constantFrom(...endpoints),
    requiredBaseUnits: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    overpaidBaseUnits: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 6n })),
    // The last millisecond of a day and the first of the next are where a report goes wrong.
    blockTimeMs: fc
      .tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom(0, 1, 43_200_000, 86_399_999))
      .map(([day, ms]) => firstDayMs + day * 86_400_000 + ms),
    end: fc.constantFrom<SeededPayment['end']>(...ends, 'fulfilled', 'fulfilled', 'finalized'),
    isPaidWhole: fc.constantFrom(false, false, true),
  }),
  { numRuns: 100, seed: 7 },
)
const references = await Promise.all(seeded.map((payment) => seedPayment(ledger, payment)))
// Small steps, so that the events of a payment fall into different ones.
while ((await rollUp(database, 7)) > 0);

function asked(report: ReportName, given: Record<string, string> = {}): ReportRequest {
  const question = readQuestion(report, given)
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  return { report, token, ...question }
}

async function rowsOf(report: ReportName, given: Record<string, string> = {}): Promise<readonly ReportRow[]> {
  const rows: ReportRow[] = []
  for await (const page of allPages(database, asked(report, given))) rows.push(...page)
  return rows
}
const sumOf = (rows: readonly ReportRow[], column: string) =>
  rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n)

async function entriesSum(account: string, from = '-infinity', to = 'infinity'): Promise<bigint> {
  const { rows } = await admin.query<{ sum: string }>(
    `select coalesce(sum(t.amount), 0)::text as sum from ledger.entries t join ledger.events e on e.seq = t.seq
     where t.account like $1 and t.mint = $4 and (e.effective_at at time zone 'UTC')::date between $2::date and $3::date`,
    [account, from, to, token.mint],
  )
  return BigInt(rows[0]?.sum ?? 0)
}

const ranges: readonly Record<string, string>[] = [
  {},
  { from: '2026-10-03', to: '2026-10-11' },
  { from: '2026-10-05', to: '2026-10-05' },
  { to: '2026-10-08' },
  { from: '2026-10-09' },
]

test('the roll-up has reached the head of the ledger', async () => {
  const { position, headPosition } = await reportPosition(database)
  expect(position).toBe(headPosition)
})

test.each(ranges)('burns of %o are the sums of the entries, however they are grouped and paged', async (range) => {
  const expected = await entriesSum('Expenses:Burned:%', range['from'], range['to'])
  for (const by of ['day', 'endpoint', 'wallet']) {
    const rows = await rowsOf('burns', { ...range, by })
    expect(sumOf(rows, 'burnedBaseUnits')).toBe(expected)
    const page = await readReport(database, asked('burns', { ...range, by, limit: '1' }))
    expect(page.totals).toMatchObject({ burnedBaseUnits: expected })
    expect(sumOf(rows, 'payments')).toBe(BigInt(page.totals?.['payments'] ?? 0))
    expect(page.rows).toEqual(rows.slice(0, 1))
  }
})

test.each(ranges)('distributions of %o are the sums of the entries, however they are grouped', async (range) => {
  const provider = -(await entriesSum('Liabilities:Share:provider', range['from'], range['to']))
  const burnOwed = -(await entriesSum('Liabilities:BurnOwed', range['from'], range['to']))
  const received = await entriesSum('Assets:PaymentWallet', range['from'], range['to'])
  for (const by of ['day', 'endpoint', 'wallet']) {
    const rows = await rowsOf('distributions', { ...range, by })
    const { totals } = await readReport(database, asked('distributions', { ...range, by }))
    const columns = ['providerBaseUnits', 'receivedBaseUnits', 'burnOwedBaseUnits']
    expect(columns.map((column) => sumOf(rows, column))).toEqual([provider, received, burnOwed])
    expect(totals).toMatchObject({
      providerBaseUnits: provider,
      receivedBaseUnits: received,
      burnOwedBaseUnits: burnOwed,
    })
  }
})

test.each(ranges)(
  'the trial balance of %o has pairs of equal totals, and closes on the sums of the entries',
  async (range) => {
    const { totals, rows } = await readReport(database, asked('trial-balance', range))
    expect(totals?.['openingDebitBaseUnits']).toBe(totals?.['openingCreditBaseUnits'])
    expect(totals?.['debitBaseUnits']).toBe(totals?.['creditBaseUnits'])
    expect(totals?.['closingDebitBaseUnits']).toBe(totals?.['closingCreditBaseUnits'])
    for (const row of rows) {
      const closing = BigInt(row['closingDebitBaseUnits'] ?? 0) - BigInt(row['closingCreditBaseUnits'] ?? 0)
      expect(closing).toBe(await entriesSum(`${String(row['account'])}%`, '-infinity', range['to']))
    }
  },
)

test('payments are listed newest first, each once, each adding up, and by filter', async () => {
  const rows = await rowsOf('payments')
  expect(rows.map((row) => String(row['reference'])).toSorted()).toEqual(references.toSorted())
  const times = rows.map((row) => String(row['paidAt']))
  expect(times).toEqual(times.toSorted().toReversed())
  for (const row of rows) {
    const parts = ['unearned', 'burnOwed', 'provider', 'holders', 'treasury', 'owed'].map((part) =>
      BigInt(row[`${part}BaseUnits`] ?? 0),
    )
    const arrived = BigInt(row['receivedBaseUnits'] ?? 0) + BigInt(row['lostBaseUnits'] ?? 0)
    expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(arrived)
  }
  for (const [state, ends] of Object.entries({
    released: ['released', 'broken'],
    fulfilled: ['fulfilled', 'streamed', 'finalized'],
    refund_due: ['refund_due'],
    reversed: ['reversed', 'reversed_served'],
    submitted: ['submitted'],
    unmatched: ['unmatched', 'submitted_unmatched'],
  }))
    expect(await rowsOf('payments', { state })).toHaveLength(seeded.filter(({ end }) => ends.includes(end)).length)
  const { totals } = await readReport(database, asked('payments', { state: 'released' }))
  expect(totals, 'totals of all states would be misread').toBeUndefined()
})

const [wallet = ''] = wallets
const [endpoint = ''] = endpoints
test.each(
  ranges.flatMap((range) => [range, { ...range, wallet }, { ...range, endpoint }, { ...range, wallet, endpoint }]),
)('the totals of the payments of %o are those of the list, whenever the rest happened to them', async (given) => {
  const rows = await rowsOf('payments', given)
  const { totals } = await readReport(database, asked('payments', { ...given, limit: '1' }))
  const { payments, ...amounts } = totals ?? {}
  expect(payments).toBe(rows.filter((row) => stands(row)).length)
  expect(amounts).toEqual(Object.fromEntries(Object.keys(amounts).map((column) => [column, sumOf(rows, column)])))
  expect(Object.keys(amounts)).toHaveLength(10)
})

/** Counted as a payment: verified, and not reversed. */
function stands(row: ReportRow): boolean {
  return !['submitted', 'reversed', 'unmatched'].includes(String(row['state']))
}

test('pages of any size make the same list', async () => {
  const whole = await rowsOf('payments')
  let cursor: string | undefined
  const paged: ReportRow[] = []
  for (let page = 0; page < 200; page++) {
    const read = await readReport(database, { ...asked('payments', { limit: '7' }), cursor })
    paged.push(...read.rows)
    cursor = read.next
    if (cursor === undefined) break
  }
  expect(paged).toEqual(whole)
})

const takes = (report: ReportName, parameter: string) => describeReport(report).accepts.includes(parameter)
const ofLedger = reportNames.filter((report) => !takes(report, 'tab'))
const pages = ofLedger.flatMap((report) =>
  takes(report, 'by') ? groupings.map((by) => [report, { by }] as const) : [[report, {}] as const],
)

test.each(pages)('%s takes the `next` of each of its pages: %j', async (report, grouping) => {
  const whole = await rowsOf(report, grouping)
  const paged: ReportRow[] = []
  let cursor: string | undefined
  do {
    const given = takes(report, 'limit') ? { limit: '1' } : {}
    const read = await readReport(database, asked(report, { ...grouping, ...given, ...(cursor && { cursor }) }))
    paged.push(...read.rows)
    cursor = read.next
  } while (cursor !== undefined)
  expect(paged).toEqual(whole)
})

const neverStood = new Set<string>(['reversed', 'reversed_served', 'unmatched', 'submitted', 'submitted_unmatched'])

test('liabilities are every balance under Liabilities, and refunds are those with a wallet', async () => {
  const rows = await rowsOf('liabilities')
  expect(sumOf(rows, 'owedBaseUnits')).toBe(-(await entriesSum('Liabilities:%')))
  const { totals } = await readReport(database, asked('liabilities', { owedTo: 'wallets' }))
  const refunds = await rowsOf('liabilities', { owedTo: 'wallets' })
  const shares = await rowsOf('liabilities', { owedTo: 'shares' })
  expect(shares.map(({ account }) => account)).toEqual(
    ['holders', 'provider', 'treasury'].map((share) => `Liabilities:Share:${share}`),
  )
  expect(refunds.every((row) => wallets.some((wallet) => wallet === row['wallet']))).toBe(true)
  expect(totals).toEqual({ owedBaseUnits: sumOf(refunds, 'owedBaseUnits') })
  expect(await summary(database, token)).toMatchObject({
    payments: seeded.filter(({ end }) => !neverStood.has(end)).length,
    refundsDueBaseUnits: String(sumOf(refunds, 'owedBaseUnits')),
    owedBaseUnits: String(sumOf(rows, 'owedBaseUnits')),
  })
})

test('a payment is shown with its events, entries and signed transaction; an unknown one is not', async () => {
  const verified = seeded.findIndex(({ end, isPaidWhole }) => end === 'finalized' && !isPaidWhole)
  const reference = readReference(references[verified] ?? '')
  if (reference === undefined) throw new Error('a payment was seeded')
  expect(await paymentDetail(database, reference)).toMatchObject({
    reference,
    kind: 'payment',
    state: 'fulfilled',
    wallet: seeded[verified]?.wallet,
    endpoint: seeded[verified]?.endpoint,
    events: expect.arrayContaining([expect.objectContaining({ kind: 'TokensBurned', entries: expect.any(Array) })]),
    transactionBase64: expect.stringMatching(/^[A-Za-z0-9+/=]+$/),
  })
  const unknown = readReference(`solana:${'1'.repeat(63)}2`)
  expect(unknown === undefined ? undefined : await paymentDetail(database, unknown)).toBeUndefined()
})

test('the CSV has the rows of the report, and its sums are those of the trial balance', async () => {
  const csv = await text(await reportCsv(database, asked('burns', { by: 'wallet' })))
  const [header = '', ...lines] = csv.trimEnd().split('\r\n')
  expect(header).toBe('wallet,payments,burnedBaseUnits,burnedTokens,burnOwedBaseUnits,burnOwedTokens,mint')
  const burned = lines.reduce((sum, line) => sum + BigInt(line.split(',')[2] ?? 0), 0n)
  const { rows } = await readReport(database, asked('trial-balance'))
  expect(rows.find((row) => row['account'] === 'Expenses:Burned')).toMatchObject({ closingDebitBaseUnits: burned })
})

function dump() {
  const tables = ['payments', 'payouts', 'daily_totals', 'wallet_totals', 'payment_totals']
  return Promise.all(
    tables.map(async (table) => (await admin.query(`select t::text from reports.${table} t order by 1`)).rows),
  )
}

test('a roll-up in one step, or after a reset, ends with the same rows as a roll-up in many steps', async () => {
  const before = await dump()
  await owner.query('select reports.reset()')
  expect((await rowsOf('payments')).length).toBe(0)
  while ((await rollUp(database)) > 0);
  expect(await dump()).toEqual(before)
})

test('sessions that roll up at the same time count nothing twice', async () => {
  await owner.query('select reports.reset()')
  const expected = await entriesSum('Expenses:Burned:%')
  for (
    let round = 0;
    round < 200 && (await reportPosition(database)).position < (await reportPosition(database)).headPosition;
    round++
  )
    await Promise.all(Array.from({ length: 4 }, () => rollUp(database, 20)))
  const { totals } = await readReport(database, asked('burns'))
  expect(totals).toMatchObject({ burnedBaseUnits: expected })
})

test('refunds that a decision is based on wait for the roll-up of another session', async () => {
  const { refundsOf } = createReports(database, token)
  const owed = assertPresent(
    seeded.find(({ end }) => end === 'refund_due'),
    'a seeded payment is owed back',
  )
  const expected = await refundsOf(owed.wallet)
  expect(expected.length).toBeGreaterThan(0)
  await owner.query('select reports.reset()')
  const other = await openSessions(serviceUrl).connect()
  await other.query('begin')
  await other.query('select reports.roll_up(20)')
  const reading = refundsOf(owed.wallet)
  await untilBlocked(reading)
  await other.query('commit')
  other.release()
  expect(await reading).toEqual(expected)
})

/** Resolves when a session of the service waits for another one. Ends when the work has ended without that. */
async function untilBlocked(work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  work.then(end, end)
  while (!over.signal.aborted) {
    const { rows } = await admin.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%roll_up%'`,
    )
    if (rows.length > 0) return
  }
}

test('a session that is killed in the middle of a roll-up has counted nothing, and holds up no other', async () => {
  const expected = await dump()
  await owner.query('select reports.reset()')
  for (let round = 0; round < 8; round++) {
    const session = await openSessions(serviceUrl).connect()
    session.on('error', () => undefined)
    await session.query('begin')
    await session.query('select reports.roll_up(20)')
    expect(await rollUp(database, 20), 'another session rolls up').toBe(0)
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
    await admin.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid])
    session.release(true)
    expect(await reportPosition(database)).toMatchObject({ position: round * 20 })
    expect(await rollUp(database, 20)).toBe(20)
  }
  while ((await rollUp(database)) > 0);
  expect(await dump()).toEqual(expected)
})

const reader = await makeMemberLogin(adminUrl, 'tollbook_reader')

describe('a login of tollbook_reader', () => {
  test.each(ofLedger)('reads the report %s as far as the service has rolled it up', async (report) => {
    const readOnly = openReader()
    const { table } = createReports(readOnly, token)
    const { limit, ...question } = assertQuestion(report)
    const { read, position, headPosition } = await table(report, { ...question, limit })
    expect(position).toBe(headPosition)
    expect(read).toEqual(await readReport(database, asked(report)))
  })

  test('reads the summary, a payment and a file, and does not roll up', async () => {
    const readOnly = openReader()
    const reports = createReports(readOnly, token)
    await owner.query('select reports.reset()')
    expect(await rollUp(readOnly)).toBe(0)
    expect((await reports.summary()).position).toBe(0)
    while ((await rollUp(database)) > 0);
    expect((await reports.summary()).read).toEqual(await summary(database, token))
    const file = await text((await reports.csv('payments', assertQuestion('payments'))).read)
    expect(file.trimEnd().split('\r\n')).toHaveLength(seeded.length + 1)
    for (const reference of references.slice(0, 20))
      expect(await reports.payment(reference)).toEqual(
        await paymentDetail(database, assertPresent(readReference(reference), 'a reference was recorded')),
      )
  })

  test('writes nothing', async () => {
    const sessions = openSessions(reader, 1)
    for (const write of ['delete from reports.payments', 'select reports.roll_up(1)', 'select reports.reset()'])
      await expect(sessions.query(write)).rejects.toMatchObject({ code: '42501' })
  })
})

function assertQuestion(report: ReportName) {
  const question = readQuestion(report, {})
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  return question
}

function openReader(): Database {
  const opened = openDatabase({
    databaseUrl: reader,
    applicationName: 'test reader',
    connectionsMax: 1,
    log: silentLog,
  })
  afterFile(() => opened.destroy())
  return opened
}

test('the service may read and roll up, and write nothing', async () => {
  const service = openSessions(serviceUrl)
  for (const write of [
    'delete from reports.payments',
    'update reports.progress set upto_seq = 0',
    'select reports.reset()',
  ])
    await expect(service.query(write)).rejects.toMatchObject({ code: '42501' })
})
