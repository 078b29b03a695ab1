import { readTabId } from '@tollbook/core/tab'
import { type Database } from '../store/database.ts'
import { decisionList } from './decisionList.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { liabilities } from './liabilities.ts'
import { paymentList } from './paymentList.ts'
import { payoutList } from './payoutList.ts'
import { periodBalance } from './periodBalance.ts'
import { prepaidByMonth } from './prepaidByMonth.ts'
import { refundList } from './refundList.ts'
import {
  days,
  isGroup,
  isPlace,
  isPosition,
  limitMax,
  parseQuestion,
  type QuestionProblem,
  type ReportParameters,
  type ReportQuestion,
} from './reportQuestion.ts'
import type { ReportRow, ReportTable } from './reportTable.ts'
import { tabList } from './tabList.ts'
import { tabStatement } from './tabStatement.ts'
import { burnSums, distributionSums, type SumsQuestion } from './sums.ts'

interface Report extends ReportParameters {
  readonly title: string
  readonly read: (database: Database, question: SumsQuestion) => Promise<ReportTable>
}

const reports = {
  payments: {
    title: 'Payments',
    read: paymentList,
    accepts: [...days, 'endpoint', 'wallet', 'state'],
    isCursor: isPlace,
  },
  burns: { title: 'Burns', read: burnSums, accepts: [...days, 'by'], isCursor: isGroup },
  distributions: { title: 'Distributions', read: distributionSums, accepts: [...days, 'by'], isCursor: isGroup },
  refunds: { title: 'Refunds', read: refundList, accepts: [...days, 'wallet', 'refund'], isCursor: isPlace },
  'decision-log': { title: 'Decisions of people', read: decisionList, accepts: days, isCursor: isPosition },
  payouts: { title: 'Payouts', read: payoutList, accepts: [...days, 'wallet'], isCursor: isPlace },
  liabilities: { title: 'Liabilities', read: liabilities, accepts: ['owedTo'], isCursor: () => true },
  prepaid: { title: 'Prepaid by age', read: prepaidByMonth, accepts: [] },
  tabs: { title: 'Tabs', read: tabList, accepts: ['wallet'], isCursor: (id) => readTabId(id) !== undefined },
  'tab-statement': {
    title: 'Statement of a tab',
    read: tabStatement,
    accepts: ['tab'],
    requires: 'tab',
    isCursor: (cursor) => /^\d{1,15}\.\d{1,38}$/.test(cursor),
  },
  'trial-balance': { title: 'Trial balance', read: periodBalance, accepts: days },
} as const satisfies Readonly<Record<string, Report>>

export type ReportName = keyof typeof reports
const reportOf: Readonly<Record<ReportName, Report>> = reports

/**
 * Names of the reports, in the order of the finance page. The routes, the command and the page derive from this list,
 * so that each report is stated once.
 */
export const reportNames = Object.keys(reports).filter((name): name is ReportName => name in reports)

export function describeReport(report: ReportName): Pick<Report, 'title' | 'accepts'> {
  const { title, accepts, isCursor } = reportOf[report]
  return { title, accepts: isCursor === undefined ? accepts : [...accepts, 'cursor', 'limit'] }
}

export function readQuestion(
  report: ReportName,
  given: Readonly<Record<string, string>>,
): ReportQuestion | readonly QuestionProblem[] {
  return parseQuestion(report, { ...reportOf[report], ...describeReport(report) }, given)
}

export interface ReportRequest extends ReportQuestion {
  readonly report: ReportName
  readonly token: LedgerToken
}

export async function readReport(
  database: Database,
  { report, token, ...question }: ReportRequest,
): Promise<ReportTable> {
  const table = await reportOf[report].read(database, { ...question, mint: token.mint })
  return question.columns === undefined ? table : withColumns(table, question.columns)
}

/**
 * Thrown for a name that is not a column of the report. Columns of shares depend on the ledger, so names are checked
 * after reading.
 */
export class UnknownColumn extends Error {
  override readonly name = 'UnknownColumn'
}

function withColumns(table: ReportTable, chosen: readonly string[]): ReportTable {
  const unknown = chosen.find((column) => !table.columns.includes(column))
  if (unknown !== undefined)
    throw new UnknownColumn(`must be columns of the report: ${table.columns.join(', ')} (got ${unknown})`)
  const shown = (row: ReportRow) => Object.fromEntries(Object.entries(row).filter(([name]) => chosen.includes(name)))
  return {
    ...table,
    columns: table.columns.filter((column) => chosen.includes(column)),
    rows: table.rows.map(shown),
    totals: table.totals && shown(table.totals),
  }
}

// Rows of the first page, which is short so that the first rows arrive sooner. Later pages are longer, because they
// cost less per row.
const firstPageRows = 100

/** Reads the report page by page, because it may have a row for each payment of the ledger. */
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
