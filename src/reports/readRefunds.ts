import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { type RefundLine, refundLines, type RefundMove } from './refundLines.ts'

export interface RefundsQuestion {
  readonly wallets: readonly string[]
  /** Limits the result to these payments. Undefined: all payments that are read. */
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

// Maximum of debts per wallet. If a wallet overpays each time, its oldest refunds were paid long ago.
const debtsMax = 5_000

/**
 * Reads the debts of payments to their wallets. Payouts pay a wallet's debts in order, so all debts are read if the
 * wallet had a payout. Otherwise the given payments suffice. A payment without an open or paid debt has no row.
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
  // Read all events in one query, with their positions as constants. A function call for each payment took 2 ms.
  const { rows } = await sql<{ seq: number; stream: number; account: string; mint: string; amount: string }>`
    select e.seq, e.stream, a.name as account, a.mint, (-side.amount)::text as amount
    from ledger.events e
    cross join lateral unnest(e.debits, e.credits, e.amounts) as t (debit, credit, amount)
    cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) as side (account, amount)
    join ledger.accounts a on a.id = side.account
    where e.seq = any(${owing.flatMap(({ positions }) => positions)}::bigint[])
      and e.seq <= (select upto_seq from reports.progress)
      and a.name ~ '^Liabilities:(Overpaid|RefundsDue|Unmatched):'`.execute(database)
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
  readonly seq: number
  readonly mint: string
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
    select seq, mint, reference, account, amount::text as amount, kind, decided_by, role, reason, decided_at
    from reports.refunds
    where account = any(${accountsOf(wallets)}::text[])`.execute(database)
  return rows.map(({ seq, mint, reference, account, amount, kind, decided_by: by, role, reason, decided_at: at }) => ({
    kind: 'decided',
    position: seq,
    reference,
    account,
    mint,
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
  const { rows } = await sql<{
    seq: number
    account: string
    mint: string
    amount: string
    reference: string
    paid_at: Date
  }>`
    select seq, account, mint, amount::text as amount, reference, paid_at
    from reports.payouts
    where account = any(${accountsOf(wallets)}::text[])`.execute(database)
  return rows.map(({ seq, account, mint, amount, reference, paid_at: at }) => ({
    kind: 'paid',
    position: seq,
    account,
    mint,
    baseUnits: BigInt(amount),
    payout: { reference, paidAt: isoTime(at.getTime()) },
  }))
}

function accountsOf(wallets: readonly string[]): readonly string[] {
  return wallets.flatMap((wallet) =>
    ['Overpaid', 'RefundsDue', 'Unmatched'].map((debt) => `Liabilities:${debt}:${wallet}`),
  )
}
