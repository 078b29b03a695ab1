import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { exportFormats, exportLedger, type ExportFormat } from '../../src/reports/export/exportLedger.ts'
import { reportCsv } from '../../src/reports/reportCsv.ts'
import { readQuestion } from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import type { Database } from '../../src/store/database.ts'
import { publishPrices } from './everyOutcome.ts'
import { seedLedger } from '../proofs/finance/seedLedger.ts'
import { createTestDatabase } from '../support/database.ts'
import { mustAppend, openInstance, openSessions } from '../store/instance.ts'
import { claimOf, sampleMint, sampleSettlement } from '../store/samplePayment.ts'

/* Answers longer than any buffer: a slow reader makes us read nothing ahead, and no page is written twice or left out. */

const { serviceUrl, adminUrl } = await createTestDatabase()
const session = openSessions(serviceUrl)
const ledger = await openInstance(serviceUrl)
const payments = 1_200
const overpaying = 1_100

beforeAll(async () => {
  await publishPrices(ledger)
  await seedLedger({ serviceUrl, adminUrl }, { mint: sampleMint, payments })
  // More accounts than the closing balances have on a page.
  const claims = Array.from({ length: overpaying }, () => claimOf(sampleSettlement({ receivedBaseUnits: 7_000_011n })))
  await Promise.all(claims.map(({ change }) => mustAppend(ledger, change)))
  while ((await rollUp(ledger.database)) > 0);
})

/** The database with counters of its queries. */
function counted(): { readonly database: Database; count(): number; readonly answered: () => number } {
  let queries = 0
  let answers = 0
  const database = ledger.database.withPlugin({
    transformQuery: ({ node }) => {
      queries++
      return node
    },
    transformResult: ({ result }) => {
      answers++
      return Promise.resolve(result)
    },
  })
  return { database, count: () => queries, answered: () => answers }
}

/** Time for a hundred queries of a process that reads ahead. */
async function meanwhile(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await session.query('select')
}

/** The number of queries when none is in progress and no other follows. A page takes as long as the machine likes. */
async function countAtRest({ count, answered }: ReturnType<typeof counted>): Promise<number> {
  for (let before = -1; before !== count() || answered() < before; await meanwhile()) before = count()
  return count()
}

function question(format: ExportFormat) {
  const range = { from: undefined, to: undefined, verifierKey: undefined, signal: new AbortController().signal }
  return { format, table: 'events', ...range } as const
}

describe.each(exportFormats)('an export as %s', (format) => {
  test('reads one page for each piece that is taken, and no page ahead', async () => {
    const { database, count } = counted()
    const pieces: number[] = []
    const gate = Promise.withResolvers<void>()
    const third = Promise.withResolvers<void>()
    const exporting = exportLedger(database, {
      ...question(format),
      write: async (chunk) => {
        pieces.push(chunk.length)
        if (pieces.length !== 3) return
        third.resolve()
        await gate.promise
      },
    })
    await third.promise
    const before = count()
    await meanwhile()
    expect(count()).toBe(before)
    expect(pieces).toHaveLength(3)
    gate.resolve()
    await exporting
    expect(count()).toBeGreaterThan(before + 10)
    // A row group of Parquet is the largest piece; the other pieces are a small part of the ledger.
    if (format !== 'parquet')
      expect(Math.max(...pieces)).toBeLessThan(pieces.reduce((sum, length) => sum + length) / 10)
  })

  test('whose reader fails leaves no database transaction open', async () => {
    const { database } = counted()
    const write = (): Promise<void> => Promise.reject(new Error('the reader has gone'))
    await expect(exportLedger(database, { ...question(format), write })).rejects.toThrow('the reader has gone')
    const { rows } = await session.query(
      `select state from pg_stat_activity where datname = current_database() and state like '%in transaction%'`,
    )
    expect(rows).toEqual([])
  })
})

test('the closing balances of a journal are those of every account, each once', async () => {
  const pieces: string[] = []
  await exportLedger(ledger.database, {
    ...question('beancount'),
    write: async (chunk) => void pieces.push(String(chunk)),
  })
  const balances = [...pieces.join('').matchAll(/^\S+ balance (\S+) /gm)].map(([, account]) => account)
  const { rows } = await session.query(
    `select count(distinct account)::int as accounts from ledger.entries where account not like 'Memo:%'`,
  )
  expect(new Set(balances).size).toBe(balances.length)
  expect(balances).toHaveLength(rows[0].accounts)
  expect(balances.length).toBeGreaterThan(overpaying)
})

describe('the CSV of a report', () => {
  const asked = () => {
    const read = readQuestion('payments', {})
    assert(!isProblems(read), 'the question is understood')
    return { ...read, report: 'payments', token: { mint: sampleMint, decimals: 6 } } as const
  }

  test('reads no page ahead of its reader, and has every row once', async () => {
    const counter = counted()
    const csv = await reportCsv(counter.database, asked())
    await once(csv, 'readable')
    const stalled = await countAtRest(counter)
    const references = (await text(csv))
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[1])
    expect(counter.count()).toBeGreaterThan(stalled)
    expect(new Set(references).size).toBe(payments + overpaying)
    expect(references).toHaveLength(payments + overpaying)
  })

  test('asks the database for nothing more when its reader has gone', async () => {
    const [whole, counter] = [counted(), counted()]
    await text(await reportCsv(whole.database, asked()))
    const csv = await reportCsv(counter.database, asked())
    await once(csv, 'readable')
    csv.destroy()
    await once(csv, 'close')
    expect(await countAtRest(counter)).toBeLessThan(whole.count())
  })

  test('that cannot be read to its end fails, and does not look complete', async () => {
    const failing = ledger.database.withPlugin({
      transformQuery: ({ node, queryId }) => {
        pagesLeft.set(queryId, pagesLeft.size)
        return node
      },
      transformResult: ({ result, queryId }) =>
        (pagesLeft.get(queryId) ?? 0) > 4
          ? Promise.reject(new Error('the database has gone'))
          : Promise.resolve(result),
    })
    const pagesLeft = new Map<unknown, number>()
    const csv = await reportCsv(failing, asked())
    await expect(text(csv)).rejects.toThrow('could not be read')
  })
})
