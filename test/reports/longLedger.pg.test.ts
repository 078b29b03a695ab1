import { beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { assert, assertPresent } from '@tollbook/core/assert'
import { reportCommand } from '../../src/cli/report.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { evolveAll } from '../../src/payment/payment.ts'
import { createPaymentFacts } from '../../src/reports/paymentFacts.ts'
import { readReport, readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import type { Database } from '../../src/store/database.ts'
import { multiplyLedger } from '../proofs/finance/multiplyLedger.ts'
import { mustAppend, openInstance } from '../store/instance.ts'
import {
  claimOf,
  fulfilmentOf,
  sampleAddress,
  sampleEvidence,
  sampleMint,
  samplePrice,
  sampleSettlement,
} from '../store/samplePayment.ts'
import { withAdminSession } from '../support/adminSession.ts'
import { createTestDatabase } from '../support/database.ts'
import { openTerminal } from '../cli/support/terminal.ts'

/* Questions about a few payments of a long ledger, in which one wallet has more refunds than are read at once. */

const [seed, grown] = [await createTestDatabase(), await createTestDatabase()]
const ledger = await openInstance(seed.serviceUrl)
const grownLedger = await openInstance(grown.serviceUrl)
const { database } = grownLedger
const [overpaying, factor] = [51, 100]
const wallet = sampleAddress()

beforeAll(async () => {
  for (let nth = 0; nth < overpaying; nth++) {
    // Only the first one is older than the day.
    const blockTimeMs = Date.parse(nth === 0 ? '2026-11-20T10:00:00Z' : '2026-11-21T10:00:00Z')
    const evidence = sampleEvidence({ blockTimeMs })
    const settlement = sampleSettlement({ wallet, receivedBaseUnits: 7_000_011n, evidence })
    const { change, attemptId } = claimOf(settlement)
    await mustAppend(ledger, change)
    const before = evolveAll(change.before, change.events, change.nowMs)
    await mustAppend(ledger, fulfilmentOf(settlement, { before, attemptId }))
  }
  while ((await rollUp(ledger.database)) > 0);
  await multiplyLedger({ fromUrl: seed.adminUrl, toUrl: grown.adminUrl, factor, onProgress: () => undefined })
  await withAdminSession(grown.adminUrl, (session) => session.query('analyze'))
})

/** Rows of events, tiles and payments that a question reads. */
function rowsRead(ask: (database: Database) => Promise<unknown>): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    // The counters of a session may still have those of its transactions before.
    const before = await countRows(transaction)
    await ask(transaction)
    return (await countRows(transaction)) - before
  })
}

async function countRows(transaction: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_xact_user_tables
    where relname ~ '^(events_|tiles|payments)'`.execute(transaction)
  return assertPresent(rows[0], 'a sum is one row').count
}

test('the oldest refunds of a wallet that is owed thousands are listed', async () => {
  const oldest = readQuestion('refunds', { to: '2026-11-20', limit: '10' })
  assert(!isProblems(oldest), 'the question is understood')
  const ask = (of: Database) =>
    readReport(of, { ...oldest, report: 'refunds', token: { mint: sampleMint, decimals: 6 } })
  const { rows } = await ask(database)
  expect(rows.map((row) => [row['wallet'], row['refund']])).toEqual(Array.from({ length: 10 }, () => [wallet, 'due']))
  expect(await rowsRead(ask)).toBeLessThan(500)
})

test('the payment of a receipt is found by its receipt, and not by a search of the ledger', async () => {
  const { rows } = await sql<{ start: string; reference: string }>`
    select encode(substr(e.leaf_hash, 1, 16), 'hex') as start, convert_from(e.body, 'UTF8')::jsonb ->> 'stream' as reference
    from ledger.events e where e.kind = 'RequestFulfilled' order by e.seq offset 2500 limit 1`.execute(database)
  const { start, reference } = assertPresent(rows[0], 'the ledger has deliveries')
  expect(await createPaymentFacts(database).paymentOfLeaf(start)).toBe(reference)
  expect(await rowsRead((of) => createPaymentFacts(of).paymentOfLeaf(start))).toBeLessThan(100)
})

test('the command writes all rows of a report as CSV, and fifty of them in any other form', async () => {
  const priced = { kind: 'PriceListPublished', source: 'fixed', split: defaultSplit, prices: [samplePrice()] } as const
  await ledger.priceLists.publish(priced)
  const linesIn = async (format: string) => {
    const { stdout } = await (
      await openTerminal()
    ).run(
      (deps) =>
        reportCommand({
          ...deps,
          databaseUrl: () => Promise.resolve(seed.serviceUrl),
          receiptKey: () => Promise.reject(new Error('no statement is signed here')),
        }),
      'payments',
      '--format',
      format,
    )
    return stdout.trim().split('\n')
  }
  expect((await linesIn('csv')).length).toBe(overpaying + 1)
  expect((await linesIn('table')).filter((line) => line.includes(wallet)).length).toBeLessThanOrEqual(50)
})
