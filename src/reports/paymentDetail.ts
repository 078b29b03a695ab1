import { sql } from 'kysely'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { type Signature, signatureBytes } from '@tollbook/core/signature'
import { type Database, readOrFault } from '../store/database.ts'

// As many as a payment's state is folded from.
const eventsMax = 2_000

// A wallet that was paid back more often than that has a report of its own: `payouts`, by wallet.
const payoutsMax = 100

/**
 * Everything the book has about one payment: its events as they were hashed, their entries, the signed transaction, and
 * what is owed by now on the accounts of wallets that it moved. Or about a payout. Undefined when the book knows neither.
 */
export async function paymentDetail(database: Database, signature: Signature): Promise<Json | undefined> {
  const rows = await readOrFault('a payment', () => readEvents(database, signature))
  const found = rows.length > 0 ? rows : await readOrFault('a payout', () => readPayout(database, signature))
  const [first] = found
  if (first === undefined) return undefined
  const events = found.map(shown)
  return {
    signature,
    wallet: first.wallet,
    endpoint: first.endpoint,
    state: first.state,
    events: events.map(({ event }) => event),
    transactionBase64: events.map(({ transactionBase64 }) => transactionBase64).find((found) => found !== null) ?? null,
    ...(await readOrFault('what is owed of a payment', () => readOwed(database, found))),
  }
}

interface EventRow {
  readonly wallet: string
  readonly endpoint: string
  readonly state: string
  readonly seq: number
  readonly kind: string
  readonly recorded_at: Date
  readonly effective_at: Date
  readonly body: Buffer
  readonly leaf_hash: Buffer
  readonly entries: readonly { readonly account: string; readonly mint: string; readonly amount: string }[] | null
}

async function readEvents(database: Database, signature: Signature): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`
    select p.wallet, p.endpoint, p.state, e.seq, e.kind, e.recorded_at, e.effective_at, e.body, e.leaf_hash, t.entries
    from ledger.payments p
    join ledger.events e on e.seq = any(p.seqs)
    left join lateral (
      select jsonb_agg(jsonb_build_object('account', t.account, 'mint', t.mint, 'amount', t.amount::text) order by t.line) as entries
      from ledger.entries t
      where t.seq = e.seq
    ) t on true
    where p.signature = ${Buffer.from(signatureBytes(signature))}
    order by e.seq
    limit ${eventsMax}`.execute(database)
  return rows
}

/** In the form of a payment's events, though it is of none: it pays accounts. */
async function readPayout(database: Database, signature: Signature): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`
    select '' as wallet, '' as endpoint, 'paid_out' as state, e.seq, e.kind, e.recorded_at, e.effective_at, e.body, e.leaf_hash,
      t.entries
    from ledger.payouts p
    join ledger.events e on e.seq = p.seq
    left join lateral (
      select jsonb_agg(jsonb_build_object('account', t.account, 'mint', t.mint, 'amount', t.amount::text) order by t.line) as entries
      from ledger.entries t
      where t.seq = e.seq
    ) t on true
    where p.signature = ${signature}`.execute(database)
  return rows
}

/**
 * Debts of one wallet are one account, whichever payments made them, and a payout pays the account. So this is what all
 * of them together still are, and the newest payouts that paid them.
 */
async function readOwed(database: Database, events: readonly EventRow[]) {
  const entries = events.flatMap((event) => event.entries ?? [])
  const accounts = [...new Set(entries.map(({ account }) => account))].filter((account) => ofWallet.test(account))
  const mint = entries[0]?.mint ?? ''
  const owed = await sql<{ account: string; owedBaseUnits: string }>`
    select account, (-balance)::text as "owedBaseUnits" from ledger.balances
    where mint = ${mint} and account = any(${accounts}) order by account`.execute(database)
  const payouts = await sql<{ signature: string; account: string; paidBaseUnits: string; paidAt: Date }>`
    select signature, account, amount::text as "paidBaseUnits", paid_at as "paidAt" from reports.payouts
    where mint = ${mint} and account = any(${accounts}) order by seq desc, line limit ${payoutsMax}`.execute(database)
  return {
    owedNow: owed.rows,
    payouts: payouts.rows.map((row) => ({ ...row, paidAt: isoTime(row.paidAt.getTime()) })),
  }
}

const ofWallet = /^Liabilities:[^:]+:./

const body = z.record(z.string(), z.json())

function shown(row: EventRow): { readonly event: Json; readonly transactionBase64: string | null } {
  const parsed = body.parse(JSON.parse(row.body.toString('utf8')))
  const settlement = body.safeParse(parsed['settlement']).data
  const transactionBase64 = settlement?.['transactionBase64'] ?? parsed['transactionBase64']
  return {
    event: {
      position: row.seq,
      kind: row.kind,
      effectiveAt: isoTime(row.effective_at.getTime()),
      recordedAt: isoTime(row.recorded_at.getTime()),
      leafHash: row.leaf_hash.toString('hex'),
      entries: (row.entries ?? []).map(({ account, mint, amount }) => ({ account, mint, amountBaseUnits: amount })),
      body: parsed,
    },
    transactionBase64: typeof transactionBase64 === 'string' ? transactionBase64 : null,
  }
}
