import type { Readable } from 'node:stream'
import type { Database } from '../store/database.ts'
import { paymentColumns } from './paymentList.ts'
import { allRows, type ReportRequest } from './readReport.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { csvOf } from './reportCsv.ts'
import { isProblems, readQuestion } from './reportQuestion.ts'
import type { ReportRow } from './reportTable.ts'
import { type LedgerMint, readLedgerMints } from '../store/ledgerMints.ts'
import { assert, assertPresent } from '@tollbook/core/assert'

export interface StatementQuestion {
  readonly wallet: string
  /** The month of the payments in UTC, such as `2026-10`. */
  readonly month: string
}

// The wallet is the same in every row. The other columns concern only the service.
const omitted = new Set(['wallet', 'burnOwedBaseUnits', 'lostBaseUnits', 'unearnedBaseUnits', 'slot', 'position'])
const ofPayment = paymentColumns.filter((column) => !omitted.has(column))
const columns = [...ofPayment, 'refund', 'refundedBaseUnits', 'refundReference', 'refundedAt', 'mint']

/**
 * Writes the payments of one wallet in a month as CSV, with the state of their refunds. Those of each mint follow each
 * other, newest first.
 */
export async function walletStatement(database: Database, { wallet, month }: StatementQuestion): Promise<Readable> {
  const question = readQuestion('payments', { wallet, month })
  assert(!isProblems(question), 'a wallet and a month are a question')
  // Read the refunds first, so that a fault comes before anything is sent.
  const refunds = Map.groupBy(await readRefunds(database, { wallets: [wallet] }), ({ reference }) => reference)
  const mints = await readLedgerMints(database)
  const requests = mints.map((token): MintRequest => ({ ...question, report: 'payments', token }))
  const decimals = new Map<unknown, number>(mints.map((token) => [token.mint, token.decimals]))
  return csvOf({
    columns,
    rows: rowsOf(database, requests, refunds),
    decimals: ({ mint }) => assertPresent(decimals.get(mint), 'each row names a mint of the ledger'),
  })
}

interface MintRequest extends ReportRequest {
  readonly token: LedgerMint
}

async function* rowsOf(
  database: Database,
  requests: readonly MintRequest[],
  refunds: ReadonlyMap<string, readonly RefundLine[]>,
): AsyncGenerator<ReportRow> {
  for (const [index, request] of requests.entries())
    for await (const row of rowsWith(allRows(database, request), refunds))
      // A payment that was never verified has no mint, and is listed once.
      if (index === 0 || row['state'] !== 'submitted') yield { ...row, mint: request.token.mint }
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
