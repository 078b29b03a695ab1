import { sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { paidBefore, paidBy } from './dayRange.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { pageOf, type ReportRow, type ReportTable } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

const columns = [
  'paidAt',
  'reference',
  'wallet',
  'endpoint',
  'cause',
  'refund',
  'owedBaseUnits',
  'approvedBaseUnits',
  'paidBaseUnits',
  'decidedBy',
  'role',
  'reason',
  'decidedAt',
  'payout',
  'refundedAt',
  'position',
] as const

interface Candidate {
  readonly reference: string
  readonly wallet: string
  readonly endpoint: string
  readonly paid_at: Date
  readonly stream: number
}

/** Lists debts to wallets by payment, newest payment first: due, approved, and paid. */
export async function refundList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const found = await readOrFault('the refunds', () => readCandidates(database, question))
  const { page, last } = pageOf(found, question)
  const lines = await readRefunds(database, {
    wallets: [...new Set(page.map(({ wallet }) => wallet))],
    references: page.map(({ reference }) => reference),
  })
  const rows = page.flatMap((candidate) =>
    lines
      .filter(({ reference, state }) => {
        return reference === candidate.reference && (question.refund === undefined || state === question.refund)
      })
      .map((line) => rowOf(candidate, line)),
  )
  const next = last === undefined ? undefined : `${last.paid_at.getTime()}.${last.stream}`
  return { columns, rows, totals: undefined, next }
}

function rowOf({ reference, wallet, endpoint, paid_at: paidAt, stream }: Candidate, line: RefundLine): ReportRow {
  const decision = line.decisions.at(-1)
  const payout = line.payouts.at(-1)
  const { cause, state, owedBaseUnits, approvedBaseUnits, paidBaseUnits } = line
  return {
    paidAt: isoTime(paidAt.getTime()),
    reference,
    wallet,
    endpoint,
    cause,
    refund: state,
    owedBaseUnits,
    approvedBaseUnits,
    paidBaseUnits,
    decidedBy: decision?.by ?? null,
    role: decision?.role ?? null,
    reason: decision?.reason ?? null,
    decidedAt: decision?.decidedAt ?? null,
    payout: payout?.reference ?? null,
    refundedAt: payout?.paidAt ?? null,
    position: stream,
  }
}

/** Reads the payments with a debt and the payments with a refund granted by hand. Both lists are short and use an index. */
async function readCandidates(database: Database, question: SumsQuestion): Promise<readonly Candidate[]> {
  const conditions = [sql`mint = ${question.mint}`, ...paidBy(question), ...paidBefore(question.cursor)]
  const where = sql.join(conditions, sql` and `)
  const page = sql`order by p.paid_at desc, p.stream desc limit ${question.limit + 1}`
  const { rows } = await sql<Candidate>`
    select reference, wallet, endpoint, paid_at, stream
    from (
      (select p.reference, p.wallet, p.endpoint, p.paid_at, p.stream from reports.payments p where p.owed > 0 and ${where} ${page})
      union
      (select p.reference, p.wallet, p.endpoint, p.paid_at, p.stream
        from reports.payments p
        join (select distinct reference from reports.refunds where kind = 'RefundGranted') g on g.reference = p.reference
        where ${where} ${page})
    ) p
    ${page}`.execute(database)
  return rows
}
