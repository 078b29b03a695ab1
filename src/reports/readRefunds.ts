import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { type RefundLine, refundLines, type RefundMove } from './refundLines.ts'

export interface RefundsQuestion {
  readonly wallets: readonly string[]
  /** Payments of these wallets; undefined for all that are read. */
  readonly references?: readonly string[]
}

/** Refunds of payments of these wallets. Empty for a wallet that is owed nothing. */
export function readRefunds(database: Database, question: RefundsQuestion): Promise<readonly RefundLine[]> {
  const { wallets, references } = question
  return readOrFault('the refunds', async () => {
    const payouts = await readPayouts(database, wallets)
    const debts = await readDebts(database, question, payouts)
    const lines = refundLines([...debts, ...(await readDecisions(database, wallets)), ...payouts])
    return references === undefined ? lines : lines.filter(({ reference }) => references.includes(reference))
  })
}

// A wallet that overpays each time: its oldest refunds are paid long ago.
const debtsMax = 5_000

/**
 * Entries of payments on accounts of their wallets. A payment without an open or paid debt has none. A payout pays the debts of a
 * wallet in their order, so all of them are read where there was one; elsewhere those of the given payments are enough.
 */
async function readDebts(
  database: Database,
  { wallets, references }: RefundsQuestion,
  payouts: readonly RefundMove[],
): Promise<readonly RefundMove[]> {
  const paid = new Set(payouts.map(({ account }) => account.split(':')[2]))
  const whole = references === undefined ? wallets : wallets.filter((wallet) => paid.has(wallet))
  const { rows: owing } = await sql<{ stream: number; reference: string; positions: readonly string[] }>`
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
    join ledger.streams s on s.stream = p.stream`.execute(database)
  const referenceOf = new Map(owing.map(({ stream, reference }) => [stream, reference]))
  // One read for all of them, with positions that are constants of its plan: a function call for each took 2 ms.
  const { rows } = await sql<{ seq: number; stream: number; account: string; amount: string }>`
    select e.seq, e.stream, a.name as account, (-side.amount)::text as amount
    from ledger.events e
    cross join lateral unnest(e.debits, e.credits, e.amounts) as t (debit, credit, amount)
    cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) as side (account, amount)
    join ledger.accounts a on a.id = side.account
    where e.seq = any(${owing.flatMap(({ positions }) => positions)}::bigint[])
      and e.seq <= (select upto_seq from reports.progress)
      and a.name ~ '^Liabilities:(Overpaid|RefundsDue|Unmatched):'`.execute(database)
  return rows.map(({ seq, stream, account, amount }) => ({
    kind: 'owed',
    position: seq,
    reference: assertPresent(referenceOf.get(stream), 'an event of one of these payments'),
    account,
    baseUnits: BigInt(amount),
  }))
}

interface DecisionRow {
  readonly seq: number
  readonly reference: string
  readonly account: string
  readonly amount: string
  readonly kind: string
  readonly decided_by: string
  readonly role: string
  readonly reason: string
  readonly decided_at: Date
}

async function readDecisions(database: Database, wallets: readonly string[]): Promise<readonly RefundMove[]> {
  const { rows } = await sql<DecisionRow>`
    select seq, reference, account, amount::text as amount, kind, decided_by, role, reason, decided_at
    from reports.refunds
    where account = any(${accountsOf(wallets)}::text[])`.execute(database)
  return rows.map(({ seq, reference, account, amount, kind, decided_by: by, role, reason, decided_at: at }) => ({
    kind: 'decided',
    position: seq,
    reference,
    account,
    baseUnits: BigInt(amount),
    decision: {
      kind: kind === 'RefundGranted' ? 'granted' : 'approved',
      by,
      role,
      reason,
      decidedAt: isoTime(at.getTime()),
      position: seq,
    },
  }))
}

async function readPayouts(database: Database, wallets: readonly string[]): Promise<readonly RefundMove[]> {
  const { rows } = await sql<{ seq: number; account: string; amount: string; reference: string; paid_at: Date }>`
    select seq, account, amount::text as amount, reference, paid_at
    from reports.payouts
    where account = any(${accountsOf(wallets)}::text[])`.execute(database)
  return rows.map(({ seq, account, amount, reference, paid_at: at }) => ({
    kind: 'paid',
    position: seq,
    account,
    baseUnits: BigInt(amount),
    payout: { reference, paidAt: isoTime(at.getTime()) },
  }))
}

function accountsOf(wallets: readonly string[]): readonly string[] {
  return wallets.flatMap((wallet) =>
    ['Overpaid', 'RefundsDue', 'Unmatched'].map((debt) => `Liabilities:${debt}:${wallet}`),
  )
}
