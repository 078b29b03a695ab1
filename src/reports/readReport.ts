import { type Database } from '../store/database.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { liabilities } from './liabilities.ts'
import { paymentList } from './paymentList.ts'
import { payoutList } from './payoutList.ts'
import { periodBalance } from './periodBalance.ts'
import { refundList } from './refundList.ts'
import { limitMax, type ReportName, type ReportQuestion } from './reportQuestion.ts'
import type { ReportRow, ReportTable } from './reportTable.ts'
import { burnSums, distributionSums, type SumsQuestion } from './sums.ts'

const reports: Readonly<Record<ReportName, (database: Database, question: SumsQuestion) => Promise<ReportTable>>> = {
  burns: burnSums,
  distributions: distributionSums,
  payments: paymentList,
  refunds: refundList,
  payouts: payoutList,
  liabilities,
  'trial-balance': periodBalance,
}

/** A question with the report that answers it. */
export interface ReportRequest extends ReportQuestion {
  readonly report: ReportName
  readonly token: LedgerToken
}

/** One page of a report. Chosen columns are selected after it was read. */
export async function readReport(
  database: Database,
  { report, token, ...question }: ReportRequest,
): Promise<ReportTable> {
  const table = await reports[report](database, { ...question, mint: token.mint })
  return question.columns === undefined ? table : withColumns(table, question.columns)
}

/** Columns of shares depend on the ledger, so an unknown name is found only here. */
export class UnknownColumn extends Error {
  override readonly name = 'UnknownColumn'
}

function withColumns(table: ReportTable, chosen: readonly string[]): ReportTable {
  const unknown = chosen.find((column) => !table.columns.includes(column))
  if (unknown !== undefined)
    throw new UnknownColumn(`must be columns of the report: ${table.columns.join(', ')} (got ${unknown})`)
  return { ...table, columns: table.columns.filter((column) => chosen.includes(column)) }
}

// The first rows come sooner on a short page; a long one costs less for each row.
const firstPageRows = 100

/** Rows of all pages, in their order; holds one page at a time. */
export async function* allRows(database: Database, request: ReportRequest): AsyncGenerator<ReportRow> {
  let cursor = request.cursor
  let limit = firstPageRows
  do {
    const page = await readReport(database, { ...request, cursor, limit })
    yield* page.rows
    cursor = page.next
    limit = limitMax
  } while (cursor !== undefined)
}
