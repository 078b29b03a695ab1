import type { Readable } from 'node:stream'
import type { Database } from '../store/database.ts'
import { allRows, type ReportRequest, readReport } from './readReport.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { csvOf } from './reportCsv.ts'
import { isProblems, readQuestion } from './reportQuestion.ts'
import type { ReportRow } from './reportTable.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { assert } from '@tollbook/core/assert'

export interface StatementQuestion {
  readonly wallet: string
  /** The month of the payments in UTC, such as `2026-10`. */
  readonly month: string
  readonly token: LedgerToken
}

const ofPayment = [
  'paidAt',
  'reference',
  'endpoint',
  'state',
  'requiredBaseUnits',
  'burnedBaseUnits',
  'receivedBaseUnits',
  'receivedAtDayPriceMicroUsd',
  'owedBaseUnits',
  'priceMicroUsd',
  'attempts',
  'fulfilledAt',
  'finalizedAt',
] as const
const columns = [...ofPayment, 'refund', 'refundedBaseUnits', 'refundReference', 'refundedAt']

/** Writes the payments of one wallet in a month as CSV, newest first, with the state of their refunds. */
export async function walletStatement(
  database: Database,
  { wallet, month, token }: StatementQuestion,
): Promise<Readable> {
  const question = readQuestion('payments', { wallet, month })
  assert(!isProblems(question), 'a wallet and a month are a question')
  const request: ReportRequest = { ...question, report: 'payments', token }
  // Read one row first, so that a fault comes before anything is sent.
  await readReport(database, { ...request, limit: 1 })
  const refunds = Map.groupBy(await readRefunds(database, { wallets: [wallet] }), ({ reference }) => reference)
  return csvOf({ columns, rows: rowsWith(allRows(database, request), refunds), decimals: token.decimals })
}

async function* rowsWith(
  rows: AsyncIterable<ReportRow>,
  refunds: ReadonlyMap<string, readonly RefundLine[]>,
): AsyncGenerator<ReportRow> {
  for await (const row of rows) {
    const cells = ofPayment.map((column) => [column, row[column] ?? null] as const)
    yield { ...Object.fromEntries(cells), ...refundOf(refunds.get(String(row['reference'])) ?? []) }
  }
}

/**
 * Combines the refunds of a payment. It may have two, for example for an overpayment and for an answer that was not
 * delivered.
 */
function refundOf(lines: readonly RefundLine[]): ReportRow {
  const payout = lines.flatMap(({ payouts }) => payouts).at(-1)
  return {
    refund: lines.length === 0 ? null : [...new Set(lines.map(({ state }) => state))].join(' '),
    refundedBaseUnits: lines.reduce((sum, { paidBaseUnits }) => sum + paidBaseUnits, 0n),
    refundReference: payout?.reference ?? null,
    refundedAt: payout?.paidAt ?? null,
  }
}
