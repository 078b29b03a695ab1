import { getMint } from '@solana/spl-token'
import { sql } from 'kysely'
import { z } from 'zod'
import { burnStats } from '../../src/reports/burnStats.ts'
import {
  type ReportRequest,
  allPages,
  readReport,
  readQuestion,
  type ReportName,
} from '../../src/reports/readReport.ts'
import { isProblems } from '../../src/reports/reportQuestion.ts'
import type { ReportRow } from '../../src/reports/reportTable.ts'
import { rollUp } from '../../src/reports/rollUp.ts'
import { trialBalance } from '../../src/reports/trialBalance.ts'
import { type LifecycleFixture, onChain } from '../jobs/lifecycleFixture.ts'

/* A ledger as its reports show it, with its entries and the chain for comparison. */

export type Given = Readonly<Record<string, string>>

export interface Report {
  readonly rows: readonly ReportRow[]
  readonly totals: ReportRow | undefined
}

export interface LedgerView {
  /** All rows of a report, and its totals. */
  report(name: ReportName, given?: Given): Report
  /** By line of the trial balance; debits are positive. */
  readonly balances: Readonly<Record<string, bigint>>
  readonly byAccount: Readonly<Record<string, bigint>>
  /** Tokens of the payment wallet. */
  readonly walletOnChain: bigint
  readonly supplyOnChain: bigint
  readonly publicBurns: { readonly burned: bigint; readonly payments: number }
}

/** Reads everything now, so that later comparisons see this moment. */
export async function readLedgerView(
  environment: LifecycleFixture,
  questions: readonly (readonly [ReportName, Given])[],
): Promise<LedgerView> {
  const { ledger, fixture } = environment
  while ((await rollUp(ledger.database)) > 0);
  const reports = new Map<string, Report>()
  for (const [name, given] of questions) reports.set(keyOf(name, given), await readAll(environment, name, given))
  const all = await trialBalance(ledger.database)
  const balances: Record<string, bigint> = {}
  for (const { account, baseUnits } of all) {
    const kind = lineOf(account)
    balances[kind] = (balances[kind] ?? 0n) + baseUnits
  }
  const { supply } = await getMint(fixture.connection, fixture.mint, 'processed', fixture.program)
  return {
    report: (name, given = {}) => {
      const read = reports.get(keyOf(name, given))
      if (read === undefined) throw new Error(`${keyOf(name, given)} was not asked`)
      return read
    },
    balances,
    byAccount: Object.fromEntries(all.map(({ account, baseUnits }) => [account, baseUnits])),
    walletOnChain: await onChain(environment),
    supplyOnChain: supply,
    publicBurns: await readBurns(environment),
  }
}

/** Shares are one line each; other accounts with an open part are one line together. */
function lineOf(account: string): string {
  return account.startsWith('Liabilities:Share:') ? account : account.split(':').slice(0, 2).join(':')
}

function keyOf(name: ReportName, given: Given): string {
  return `${name} ${JSON.stringify(given)}`
}

async function readAll({ ledger, fixture }: LifecycleFixture, name: ReportName, given: Given): Promise<Report> {
  const question = readQuestion(name, given)
  if (isProblems(question)) throw new Error(JSON.stringify(question))
  const asked: ReportRequest = { report: name, token: { mint: fixture.terms.mint, decimals: 6 }, ...question }
  const rows: ReportRow[] = []
  for await (const page of allPages(ledger.database, asked)) rows.push(...page)
  return { rows, totals: (await readReport(ledger.database, { ...asked, limit: 1 })).totals }
}

const statistics = z.object({ total: z.object({ baseUnits: z.string().transform(BigInt), payments: z.int() }) })

async function readBurns({ ledger, fixture, clock }: LifecycleFixture): Promise<LedgerView['publicBurns']> {
  const stats = await burnStats({ database: ledger.database, clock }, { mint: fixture.terms.mint, decimals: 6 })
  const { baseUnits, payments } = statistics.parse(stats).total
  return { burned: baseUnits, payments }
}

/** Movements per line of the trial balance in a range of UTC days, from the entries themselves. */
export async function entriesOf({ ledger }: LifecycleFixture, { from = '-infinity', to = 'infinity' }: Given) {
  const { rows } = await sql<{ account: string; sum: string }>`
    select t.account, sum(t.amount)::text as sum
    from ledger.entries t join ledger.events e on e.seq = t.seq
    where t.account not like 'Memo:%' and (e.effective_at at time zone 'UTC')::date between ${from}::date and ${to}::date
    group by 1`.execute(ledger.database)
  const sums = new Map<string, bigint>()
  for (const { account, sum } of rows) sums.set(lineOf(account), (sums.get(lineOf(account)) ?? 0n) + BigInt(sum))
  return sums
}

/** Every row of every derived table. */
export async function dumpReports({ ledger }: LifecycleFixture): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'reports' and table_type = 'BASE TABLE' order by 1`.execute(
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
