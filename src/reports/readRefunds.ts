import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readRows } from '../store/database.ts'
import { type RefundLine, refundLines, type RefundMove } from './refundLines.ts'

export interface RefundsQuestion {
  readonly wallets: readonly string[]
  readonly references?: readonly string[]
}

export async function readRefunds(database: Database, question: RefundsQuestion): Promise<readonly RefundLine[]> {
  const { wallets, references } = question
  const payouts = await readPayouts(database, wallets)
  const debts = await readDebts(database, question, payouts)
  const lines = refundLines([...debts, ...(await readDecisions(database, wallets)), ...payouts])
  return references === undefined ? lines : lines.filter(({ reference }) => references.includes(reference))
}

const what = 'the refunds'

// Maximum of debts per wallet, the newest first.
const debtsMax = 5_000

/**
 * Reads the debts of the wallets. Payouts pay a wallet's debts in order, so all debts up to `debtsMax` are read if the
 * wallet had a payout. Without a payout, the given payments suffice. A payment without an open or paid debt has no
 * row.
 */
async function readDebts(
  database: Database,
  { wallets, references }: RefundsQuestion,
  payouts: readonly RefundMove[],
): Promise<readonly RefundMove[]> {
  const paid = new Set(payouts.map(({ account }) => account.split(':')[2]))
  const whole = references === undefined ? wallets : wallets.filter((wallet) => paid.has(wallet))
  const owing = await readRows(database, what)<{ stream: number; reference: string; positions: readonly string[] }>`
    select p.stream, p.reference, (
      select array_agg(at.seq) from unnest(s.seqs) r cross join lateral generate_series(lower(r), upper(r) - 1) as at (seq)
    ) as positions
    from (
      select d.stream, d.reference
      from unnest(${whole}::text[]) as w (wallet)
      cross join lateral (
        select p.stream, p.reference from reports.payments p where p.wallet = w.wallet and p.owed > 0
        order by p.paid_at desc limit ${debtsMax}
      ) d
      union
      select stream, reference from reports.payments where reference = any(${references ?? []}::text[]) and owed > 0
    ) p
    join ledger.streams s on s.stream = p.stream`
  const referenceOf = new Map(owing.map(({ stream, reference }) => [stream, reference]))
  // Read all events in one query, with their positions as constants, because a function call for each payment is slow.
  const rows = await readRows(database, what)<{
    seq: number
    stream: number
    account: string
    mint: string
    amount: string
  }>`
    select e.seq, e.stream, a.name as account, a.mint, (-side.amount)::text as amount
    from ledger.events e
    cross join lateral unnest(e.debits, e.credits, e.amounts) as t (debit, credit, amount)
    cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) as side (account, amount)
    join ledger.accounts a on a.id = side.account
    where e.seq = any(${owing.flatMap(({ positions }) => positions)}::bigint[])
      and e.seq <= (select upto_seq from reports.progress)
      and a.name ~ '^Liabilities:(Overpaid|RefundsDue|Unmatched):'`
  return rows.map(({ seq, stream, account, mint, amount }) => ({
    kind: 'owed',
    position: seq,
    reference: assertPresent(referenceOf.get(stream), 'an event of one of these payments'),
    account,
    mint,
    baseUnits: BigInt(amount),
  }))
}

interface DecisionRow {
  readonly position: number
  readonly mint: string
  readonly reference: string
  readonly account: string
  readonly amount: string
  readonly kind: 'granted' | 'approved'
  readonly by: string
  readonly role: string
  readonly reason: string
  readonly decidedAt: Date
}

async function readDecisions(database: Database, wallets: readonly string[]): Promise<readonly RefundMove[]> {
  const rows = await readRows(database, what)<DecisionRow>`
    select seq as position, mint, reference, account, amount::text as amount, decided_by as by, role, reason,
      case kind when 'RefundGranted' then 'granted' else 'approved' end as kind, decided_at as "decidedAt"
    from reports.refunds
    where account = any(${accountsOf(wallets)}::text[])`
  return rows.map(({ mint, reference, account, amount, decidedAt, ...decision }) => ({
    kind: 'decided',
    position: decision.position,
    reference,
    account,
    mint,
    baseUnits: BigInt(amount),
    decision: { ...decision, decidedAt: isoTime(decidedAt.getTime()) },
  }))
}

interface PayoutRow {
  readonly position: number
  readonly account: string
  readonly mint: string
  readonly amount: string
  readonly reference: string
  readonly paidAt: Date
}

async function readPayouts(database: Database, wallets: readonly string[]): Promise<readonly RefundMove[]> {
  const rows = await readRows(database, what)<PayoutRow>`
    select seq as position, account, mint, amount::text as amount, reference, paid_at as "paidAt"
    from reports.payouts
    where account = any(${accountsOf(wallets)}::text[])`
  return rows.map(({ amount, reference, paidAt, ...place }) => ({
    kind: 'paid',
    ...place,
    baseUnits: BigInt(amount),
    payout: { reference, paidAt: isoTime(paidAt.getTime()) },
  }))
}

function accountsOf(wallets: readonly string[]): readonly string[] {
  return wallets.flatMap((wallet) =>
    ['Overpaid', 'RefundsDue', 'Unmatched'].map((debt) => `Liabilities:${debt}:${wallet}`),
  )
}
