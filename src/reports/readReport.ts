import { type Database } from '../store/database.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { liabilities } from './liabilities.ts'
import { paymentList } from './paymentList.ts'
import { payoutList } from './payoutList.ts'
import { periodBalance } from './periodBalance.ts'
import { prepaidByMonth } from './prepaidByMonth.ts'
import { refundList } from './refundList.ts'
import { limitMax, type ReportName, type ReportQuestion } from './reportQuestion.ts'
import type { ReportRow, ReportTable } from './reportTable.ts'
import { tabList } from './tabList.ts'
import { tabStatement } from './tabStatement.ts'
import { burnSums, distributionSums, type SumsQuestion } from './sums.ts'

const reports: Readonly<Record<ReportName, (database: Database, question: SumsQuestion) => Promise<ReportTable>>> = {
  burns: burnSums,
  distributions: distributionSums,
  payments: paymentList,
  refunds: refundList,
  payouts: payoutList,
  liabilities,
  prepaid: prepaidByMonth,
  tabs: tabList,
  'tab-statement': tabStatement,
  'trial-balance': periodBalance,
}

/** The name of a report with its parameters and token. */
export interface ReportRequest extends ReportQuestion {
  readonly report: ReportName
  readonly token: LedgerToken
}

/** Reads one page of a report, then selects the chosen columns. */
export async function readReport(
  database: Database,
  { report, token, ...question }: ReportRequest,
): Promise<ReportTable> {
  const table = await reports[report](database, { ...question, mint: token.mint })
  return question.columns === undefined ? table : withColumns(table, question.columns)
}

/** Thrown for an unknown column. Columns of shares depend on the ledger, so names are checked after reading. */
export class UnknownColumn extends Error {
  override readonly name = 'UnknownColumn'
}

function withColumns(table: ReportTable, chosen: readonly string[]): ReportTable {
  const unknown = chosen.find((column) => !table.columns.includes(column))
  if (unknown !== undefined)
    throw new UnknownColumn(`must be columns of the report: ${table.columns.join(', ')} (got ${unknown})`)
  return { ...table, columns: table.columns.filter((column) => chosen.includes(column)) }
}

// Rows of the first page, which is short so that the first rows arrive sooner. Later pages are longer, because they
// cost less per row.
const firstPageRows = 100

/** Yields the rows of all pages in order, with one page in memory at a time. */
export async function* allPages(database: Database, request: ReportRequest): AsyncGenerator<readonly ReportRow[]> {
  let cursor = request.cursor
  let limit = firstPageRows
  do {
    const page = await readReport(database, { ...request, cursor, limit })
    yield page.rows
    cursor = page.next
    limit = limitMax
  } while (cursor !== undefined)
}
