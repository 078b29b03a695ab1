import type { Readable } from 'node:stream'
import { readPastedReference } from './pastedReference.ts'
import type { Database } from '../store/database.ts'
import { readClosing, type UnsignedClosing } from './closing/readClosing.ts'
import { findLedgerMint, type LedgerMint, readLedgerMints, UnknownMint } from '../store/ledgerMints.ts'
import type { LedgerToken } from './ledgerToken.ts'
import { type MoneyFigures, moneyFigures } from './moneyFigures.ts'
import { type PaymentDetail, paymentDetail } from './paymentDetail.ts'
import { readReport, type ReportName } from './readReport.ts'
import { reportCsv } from './reportCsv.ts'
import type { ReportQuestion } from './reportQuestion.ts'
import type { ReportTable } from './reportTable.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { type ReportPosition, reportPosition, rollUp, rollUpInTurn } from './rollUp.ts'
import { type Summary, summary } from './summary.ts'
import { walletStatement } from './walletStatement.ts'

export { UnknownMint }

/**
 * A read first rolls up new events of the ledger, at most one step except for `refundsOf`. `inMint`, `mints` and
 * `money` do not.
 */
export interface Reports {
  readonly token: LedgerToken
  /** `mint` is a name or an address. Throws `UnknownMint` for a mint that the ledger does not have. */
  inMint(mint: string): Promise<Reports>
  mints(): Promise<readonly LedgerMint[]>
  summary(): Promise<Positioned<Summary>>
  money(): Promise<MoneyFigures>
  table(report: ReportName, question: ReportQuestion): Promise<Positioned<ReportTable>>
  csv(report: ReportName, question: ReportQuestion): Promise<Positioned<Readable>>
  /**
   * Returns the statement of a month such as `2026-10`. Throws `ClosingNotReady` while the reports or the checkpoints
   * have not reached the positions of the statement.
   */
  closing(question: { readonly month: string; readonly nowMs: number }): Promise<UnsignedClosing>
  /**
   * Returns the facts of a payment. For Solana the bare signature suffices. Undefined if the text is not a reference or
   * the ledger does not have it.
   */
  payment(reference: string): Promise<PaymentDetail | undefined>
  /** Reads the refunds after at most one step of the roll-up, because a request must not wait for a whole backlog. */
  refundsNow(wallet: string): Promise<Positioned<readonly RefundLine[]>>
  /**
   * Reads the refunds after rolling up the backlog in at most `stepsMax` steps, because decisions depend on the
   * refunds.
   */
  refundsOf(wallet: string): Promise<readonly RefundLine[]>
  /** Returns the payments of the wallet in every mint. */
  statement(question: { readonly wallet: string; readonly month: string }): Promise<Positioned<Readable>>
}

/** A result with the position that the reports had just before it was read. */
export interface Positioned<Read> extends ReportPosition {
  readonly read: Read
}

// Maximum of roll-up steps, so that a read ends even with a large backlog.
const stepsMax = 200

export function createReports(database: Database, token: LedgerToken): Reports {
  const positioned = async <Read>(read: () => Promise<Read>): Promise<Positioned<Read>> => {
    await rollUp(database)
    // Read the position first, so that the report is never older than the position that it states.
    const position = await reportPosition(database)
    return { ...position, read: await read() }
  }
  return {
    token,
    inMint: async (mint) => createReports(database, await findLedgerMint(database, mint)),
    mints: () => readLedgerMints(database),
    summary: () => positioned(() => summary(database, token)),
    money: () => moneyFigures(database, token),
    table: (report, question) => positioned(() => readReport(database, { ...question, report, token })),
    csv: (report, question) => positioned(() => reportCsv(database, { ...question, report, token })),
    closing: async (question) => {
      await rollUp(database)
      return readClosing(database, { ...question, token })
    },
    payment: async (text) => {
      const reference = readPastedReference(text)
      if (reference === undefined) return undefined
      await rollUp(database)
      return paymentDetail(database, reference)
    },
    refundsNow: (wallet) => positioned(() => readRefunds(database, { wallets: [wallet] })),
    statement: (question) => positioned(() => walletStatement(database, question)),
    refundsOf: async (wallet) => {
      // Wait for the roll-up of another session: with older reports, a decision would refuse a debt that exists.
      for (let step = 0; step < stepsMax; step++) if ((await rollUpInTurn(database)) === 0) break
      return readRefunds(database, { wallets: [wallet] })
    },
  }
}
