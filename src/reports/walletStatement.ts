import type { Readable } from 'node:stream'
import type { Database } from '../store/database.ts'
import { paymentColumns } from './paymentList.ts'
import { allPages, type ReportRequest, readQuestion } from './readReport.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { csvOf } from './reportCsv.ts'
import { isProblems } from './reportQuestion.ts'
import type { ReportRow } from './reportTable.ts'
import { readLedgerMints } from '../store/ledgerMints.ts'
import { assert, assertPresent } from '@tollbook/core/assert'

export interface StatementQuestion {
  readonly wallet: string
  /** The month of the payments in UTC, such as `2026-10`. */
  readonly month: string
}

// Columns that the statement omits, because the wallet is the same in every row, and the other columns concern only the
// service.
const omitted = new Set(['wallet', 'burnOwedBaseUnits', 'lostBaseUnits', 'unearnedBaseUnits', 'slot', 'position'])
const ofPayment = paymentColumns.filter((column) => !omitted.has(column))
const columns = [...ofPayment, 'refund', 'refundedBaseUnits', 'refundReference', 'refundedAt', 'mint']

/** Writes the payments of a wallet, grouped by mint, newest first, with the state of the refunds. */
export async function walletStatement(database: Database, { wallet, month }: StatementQuestion): Promise<Readable> {
  const question = readQuestion('payments', { wallet, month })
  assert(!isProblems(question), 'a wallet and a month are a question')
  // Read the refunds first, so that a fault occurs before anything is sent.
  const refunds = Map.groupBy(await readRefunds(database, { wallets: [wallet] }), ({ reference }) => reference)
  const mints = await readLedgerMints(database)
  const requests = mints.map((token): ReportRequest => ({ ...question, report: 'payments', token }))
  const decimals = new Map<unknown, number>(mints.map((token) => [token.mint, token.decimals]))
  return csvOf({
    columns,
    pages: pagesOf(database, requests, refunds),
    decimals: ({ mint }) => assertPresent(decimals.get(mint), 'each row names a mint of the ledger'),
  })
}

async function* pagesOf(
  database: Database,
  requests: readonly ReportRequest[],
  refunds: ReadonlyMap<string, readonly RefundLine[]>,
): AsyncGenerator<readonly ReportRow[]> {
  for (const [index, request] of requests.entries())
    for await (const rows of allPages(database, request)) {
      // List a payment that was never verified only with the first mint, because it has no mint and is in the pages of
      // every mint.
      const own = rows.filter(({ state }) => index === 0 || state !== 'submitted')
      yield own.map((row) => {
        return { ...row, ...refundOf(refunds.get(String(row['reference'])) ?? []), mint: request.token.mint }
      })
    }
}

/**
 * Returns the cells of the refunds of a payment. It may have two, for example for an overpayment and for an answer that
 * was not delivered.
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
