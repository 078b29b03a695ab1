import type { Readable } from 'node:stream'
import type { Json } from '@tollbook/core/canonicalJson'
import { readSignature } from '@tollbook/core/signature'
import type { Database } from '../store/database.ts'
import type { BookedToken } from './bookedToken.ts'
import { paymentDetail } from './paymentDetail.ts'
import { readReport } from './reportBook.ts'
import { reportCsv } from './reportCsv.ts'
import type { ReportName, ReportQuestion } from './reportQuestion.ts'
import type { ReportTable } from './reportTable.ts'
import { type ReportPosition, reportPosition, rollUp } from './rollUp.ts'
import { summary } from './summary.ts'

/** All reports on one book and one token. Each is brought nearer to the head of the book before it is read. */
export interface Reports {
  readonly token: BookedToken
  summary(): Promise<Positioned<Readonly<Record<string, Json>>>>
  table(report: ReportName, question: ReportQuestion): Promise<Positioned<ReportTable>>
  csv(report: ReportName, question: ReportQuestion): Promise<Positioned<Readable>>
  /** Of a payment or a payout. Undefined when the book does not know it, or it is no signature at all. Read from the book itself, beside what was paid out since. */
  payment(signature: string): Promise<Json | undefined>
}

/** What was read, and how far the reports had come then. */
export interface Positioned<Read> extends ReportPosition {
  readonly read: Read
}

export function createReports(database: Database, token: BookedToken): Reports {
  const positioned = async <Read>(read: () => Promise<Read>): Promise<Positioned<Read>> => {
    await rollUp(database)
    const position = await reportPosition(database)
    return { ...position, read: await read() }
  }
  return {
    token,
    summary: () => positioned(() => summary(database, token)),
    table: (report, question) => positioned(() => readReport(database, { ...question, report, token })),
    csv: (report, question) => positioned(() => reportCsv(database, { ...question, report, token })),
    payment: async (text) => {
      const signature = readSignature(text)
      if (signature === undefined) return undefined
      await rollUp(database)
      return paymentDetail(database, signature)
    },
  }
}
