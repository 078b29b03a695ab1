import { sql } from 'kysely'
import { isoTime } from '@tollbook/core/clock'
import { type Database, readOrFault } from '../store/database.ts'
import { type RefundLine, refundLines, type RefundMove } from './refundLines.ts'

/** Refunds of all payments of these wallets. Empty for a wallet that is owed nothing. */
export function readRefunds(database: Database, wallets: readonly string[]): Promise<readonly RefundLine[]> {
  return readOrFault('the refunds', async () =>
    refundLines([
      ...(await readDebts(database, wallets)),
      ...(await readDecisions(database, wallets)),
      ...(await readPayouts(database, wallets)),
    ]),
  )
}

// A wallet that overpays each time: its oldest refunds are paid long ago.
const debtsMax = 5_000

/** Entries of payments on accounts of their wallets. A payment without an open or paid debt has none. */
async function readDebts(database: Database, wallets: readonly string[]): Promise<readonly RefundMove[]> {
  const { rows } = await sql<{ seq: number; reference: string; account: string; amount: string }>`
    select t.seq, p.reference, t.account, (-t.amount)::text as amount
    from (
      select stream, reference from reports.payments where wallet = any(${wallets}::text[]) and owed > 0
      order by paid_at desc limit ${debtsMax}
    ) p
    join ledger.streams s on s.stream = p.stream
    cross join lateral ledger.read(s.id) e
    join ledger.entries t on t.seq = e.seq
    where t.account ~ '^Liabilities:(Overpaid|RefundsDue|Unmatched):' and e.seq <= (select upto_seq from reports.progress)`.execute(
    database,
  )
  return rows.map(({ seq, reference, account, amount }) => {
    return { kind: 'owed', position: seq, reference, account, baseUnits: BigInt(amount) }
  })
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
