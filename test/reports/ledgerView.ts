import { getMint } from '@solana/spl-token'
import { sql } from 'kysely'
import { type AskedReport, allRows, readReport } from '../../src/reports/reportBook.ts'
import { isProblems, readQuestion, type ReportName } from '../../src/reports/reportQuestion.ts'
import type { ReportRow } from '../../src/reports/reportTable.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { type LifeGround, onChain } from '../jobs/lifeGround.ts'

/* A book as its reports show it, and beside them what the entries and the chain say. */

export type Given = Readonly<Record<string, string>>

export interface Report {
  readonly rows: readonly ReportRow[]
  readonly totals: ReportRow | undefined
}

export interface BookSeen {
  /** All rows of a report, and its totals. */
  report(name: ReportName, given?: Given): Report
  /** By kind of account; debits are positive. */
  readonly balances: Readonly<Record<string, bigint>>
  readonly byAccount: Readonly<Record<string, bigint>>
  /** What the payment wallet holds. */
  readonly walletOnChain: bigint
  readonly supplyOnChain: bigint
  readonly publicBurns: { readonly burned: bigint; readonly payments: number }
}

/** Reads everything now, so that what is looked at later is what was there then. */
export async function seeBook(
  ground: LifeGround,
  questions: readonly (readonly [ReportName, Given])[],
): Promise<BookSeen> {
  const { ledger, lab } = ground
  while ((await rollUp(ledger.database)) > 0);
  const reports = new Map<string, Report>()
  for (const [name, given] of questions) reports.set(keyOf(name, given), await readAll(ground, name, given))
  const all = await trialBalance(ledger.database)
  const balances: Record<string, bigint> = {}
  for (const { account, baseUnits } of all) {
    const kind = account.split(':').slice(0, 2).join(':')
    balances[kind] = (balances[kind] ?? 0n) + baseUnits
  }
  const { supply } = await getMint(lab.connection, lab.mint, 'processed', lab.program)
  return {
    report: (name, given = {}) => {
      const read = reports.get(keyOf(name, given))
      if (read === undefined) throw new Error(`${keyOf(name, given)} was not asked`)
      return read
    },
    balances,
    byAccount: Object.fromEntries(all.map(({ account, baseUnits }) => [account, baseUnits])),
    walletOnChain: await onChain(ground),
    supplyOnChain: supply,
    publicBurns: await readBurns(ground),
  }
}

function keyOf(name: ReportName, given: Given): string {
  return `${name} ${JSON.stringify(given)}`
}

async function readAll({ ledger, lab }: LifeGround, name: ReportName, given: Given): Promise<Report> {
  const question = readQuestion(name, given)
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  const asked: AskedReport = { report: name, token: { mint: lab.terms.mint, decimals: 6 }, ...question }
  const rows: ReportRow[] = []
  for await (const row of allRows(ledger.database, asked)) rows.push(row)
  return { rows, totals: (await readReport(ledger.database, { ...asked, limit: 1 })).totals }
}

async function readBurns({ ledger }: LifeGround): Promise<BookSeen['publicBurns']> {
  const { rows } = await sql<{ burned: string; payments: number }>`
    select burned, payments from ledger.burn_totals where span = 'all' and endpoint = ''`.execute(ledger.database)
  return { burned: BigInt(rows[0]?.burned ?? 0), payments: rows[0]?.payments ?? 0 }
}

/** What moved on an account in a range of UTC days, from the entries themselves. */
export async function entriesOf({ ledger }: LifeGround, { from = '-infinity', to = 'infinity' }: Given) {
  const { rows } = await sql<{ account: string; sum: string }>`
    select split_part(t.account, ':', 1) || ':' || split_part(t.account, ':', 2) as account, sum(t.amount)::text as sum
    from ledger.entries t join ledger.events e on e.seq = t.seq
    where (e.effective_at at time zone 'UTC')::date between ${from}::date and ${to}::date
    group by 1`.execute(ledger.database)
  return new Map(rows.map(({ account, sum }) => [account, BigInt(sum)]))
}

/** Every row of every derived table. */
export async function dumpReports({ ledger }: LifeGround): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'reports' order by 1`.execute(
    ledger.database,
  )
  const dumps = tables.map(({ name }) =>
    sql<{ line: string }>`
      select ${name} || t::text as line from ${sql.table(`reports.${name}`)} t order by 1`.execute(ledger.database),
  )
  return (await Promise.all(dumps)).flatMap(({ rows }) => rows.map(({ line }) => line))
}

export function sumOf(rows: readonly ReportRow[], column: string): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n)
}
