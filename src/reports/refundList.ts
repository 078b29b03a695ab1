import { sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readRows } from '../store/database.ts'
import { paidBefore, paidBy } from './dayRange.ts'
import { readRefunds } from './readRefunds.ts'
import type { RefundLine } from './refundLines.ts'
import { type Cell, pageOf, type ReportTable } from './reportTable.ts'
import type { SumsQuestion } from './sums.ts'

interface Candidate {
  readonly reference: string
  readonly wallet: string
  readonly endpoint: string
  readonly paid_at: Date
  readonly stream: number
}

const cells: Readonly<Record<string, (payment: Candidate, debt: RefundLine) => Cell>> = {
  paidAt: (payment) => isoTime(payment.paid_at.getTime()),
  reference: (payment) => payment.reference,
  wallet: (payment) => payment.wallet,
  endpoint: (payment) => payment.endpoint,
  cause: (_, debt) => debt.cause,
  refund: (_, debt) => debt.state,
  owedBaseUnits: (_, debt) => debt.owedBaseUnits,
  approvedBaseUnits: (_, debt) => debt.approvedBaseUnits,
  paidBaseUnits: (_, debt) => debt.paidBaseUnits,
  decidedBy: (_, { decisions }) => decisions.at(-1)?.by ?? null,
  role: (_, { decisions }) => decisions.at(-1)?.role ?? null,
  reason: (_, { decisions }) => decisions.at(-1)?.reason ?? null,
  decidedAt: (_, { decisions }) => decisions.at(-1)?.decidedAt ?? null,
  payout: (_, { payouts }) => payouts.at(-1)?.reference ?? null,
  refundedAt: (_, { payouts }) => payouts.at(-1)?.paidAt ?? null,
  position: (payment) => payment.stream,
}

/** Lists due, approved and paid debts by payment, newest payment first. */
export async function refundList(database: Database, question: SumsQuestion): Promise<ReportTable> {
  const { page, last } = pageOf(await readCandidates(database, question), question)
  const debts = await readRefunds(database, {
    wallets: [...new Set(page.map(({ wallet }) => wallet))],
    references: page.map(({ reference }) => reference),
  })
  const wanted = debts.filter(({ state }) => question.refund === undefined || state === question.refund)
  const rows = page.flatMap((payment) =>
    wanted
      .filter(({ reference }) => reference === payment.reference)
      .map((debt) => Object.fromEntries(Object.entries(cells).map(([name, of]) => [name, of(payment, debt)]))),
  )
  const next = last === undefined ? undefined : `${last.paid_at.getTime()}.${last.stream}`
  return { columns: Object.keys(cells), rows, totals: undefined, next }
}

/** Reads payments with a debt, and payments with a refund granted by hand. Both lists are short and use an index. */
function readCandidates(database: Database, question: SumsQuestion): Promise<readonly Candidate[]> {
  const conditions = [sql`mint = ${question.mint}`, ...paidBy(question), ...paidBefore(question.cursor)]
  const where = sql.join(conditions, sql` and `)
  const page = sql`order by p.paid_at desc, p.stream desc limit ${question.limit + 1}`
  return readRows(database, 'the refunds')<Candidate>`
    select reference, wallet, endpoint, paid_at, stream
    from (
      (select p.reference, p.wallet, p.endpoint, p.paid_at, p.stream from reports.payments p where p.owed > 0 and ${where} ${page})
      union
      (select p.reference, p.wallet, p.endpoint, p.paid_at, p.stream
        from reports.payments p
        join (select distinct reference from reports.refunds where kind = 'RefundGranted') g on g.reference = p.reference
        where ${where} ${page})
    ) p
    ${page}`
}
