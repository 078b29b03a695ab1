import { z } from 'zod'
import { isoTime } from '@tollbook/core/clock'
import { type PaymentReference, streamIdOf } from '../payment/paymentReference.ts'
import { type Database, readRows } from '../store/database.ts'
import { readRefunds } from './readRefunds.ts'
import { refundJson } from './refundLines.ts'

// Maximum of payouts shown, because the report `payouts` lists all payouts of a wallet.
const payoutsMax = 100

/**
 * Facts of a payment for JSON. `mint` is the mint of the payment's first entry, and empty for a payment without
 * entries.
 */
export type PaymentDetail = NonNullable<Awaited<ReturnType<typeof paymentDetail>>>

/**
 * Reads the events of one payment, payout or burn, with the open debts in the wallet accounts that its entries use.
 * Undefined if the ledger does not have this reference.
 */
export async function paymentDetail(database: Database, reference: PaymentReference) {
  const found = await readEvents(database, reference)
  const [first] = found
  if (first === undefined) return undefined
  const events = found.map(shown)
  const bodies = events.map(({ event }) => event.body)
  const wallet = firstText(bodies, 'wallet')
  const refunds = wallet === '' ? [] : await readRefunds(database, { wallets: [wallet], references: [reference] })
  return {
    reference,
    kind: first.stream_kind,
    wallet,
    endpoint: firstText(bodies, 'endpoint'),
    mint: mintOf(found),
    // Remove finality from the state, because a separate event below shows it.
    state: first.state.replace(/\.final$/, ''),
    events: events.map(({ event }) => event),
    transactionBase64: events.map(({ transactionBase64 }) => transactionBase64).find((text) => text !== null) ?? null,
    ...(await readOwed(database, found)),
    refunds: refunds.map(refundJson),
  }
}

interface EventRow {
  readonly stream_kind: string
  readonly state: string
  readonly seq: number
  readonly kind: string
  readonly recorded_at: Date
  readonly effective_at: Date
  readonly body: Buffer
  readonly leaf_hash: Buffer
  readonly entries: readonly { readonly account: string; readonly mint: string; readonly amount: string }[] | null
}

function readEvents(database: Database, reference: PaymentReference): Promise<readonly EventRow[]> {
  const id = Buffer.from(streamIdOf(reference))
  return readRows(database, 'a payment')<EventRow>`
    select s.kind as stream_kind, s.state, e.seq, e.kind, e.recorded_at, e.effective_at, e.body, e.leaf_hash, t.entries
    from ledger.streams s
    cross join lateral ledger.read(s.id) e
    cross join lateral (
      select jsonb_agg(jsonb_build_object('account', t.account, 'mint', t.mint, 'amount', t.amount::text) order by t.line) as entries
      from ledger.entries t
      where t.seq = e.seq and t.account not like 'Memo:%'
    ) t
    where s.id = ${id}
    order by e.seq`
}

/**
 * Reads the balances of the wallet accounts, with the newest payouts that reduced them. All debts of one kind to a
 * wallet share an account, so these balances include the debts of other payments.
 */
async function readOwed(database: Database, events: readonly EventRow[]) {
  const entries = events.flatMap((event) => event.entries ?? [])
  const accounts = [...new Set(entries.map(({ account }) => account))].filter((account) => ofWallet.test(account))
  const mint = mintOf(events)
  const what = 'open debts of a payment'
  const owedNow = await readRows(database, what)<{ account: string; owedBaseUnits: string }>`
    select name as account, (-balance)::text as "owedBaseUnits" from ledger.accounts
    where mint = ${mint} and name = any(${accounts}) order by name`
  const payouts = await readRows(database, what)<{
    reference: string
    account: string
    paidBaseUnits: string
    paidAt: Date
  }>`
    select reference, account, amount::text as "paidBaseUnits", paid_at as "paidAt" from reports.payouts
    where mint = ${mint} and account = any(${accounts}) order by seq desc, line limit ${payoutsMax}`
  return {
    owedNow,
    payouts: payouts.map((row) => ({ ...row, paidAt: isoTime(row.paidAt.getTime()) })),
  }
}

function mintOf(events: readonly EventRow[]): string {
  return events.flatMap((event) => event.entries ?? [])[0]?.mint ?? ''
}

const ofWallet = /^Liabilities:(?!Share:)[^:]+:./

const record = z.record(z.string(), z.json())
type Body = z.infer<typeof record>

function shown(row: EventRow) {
  const body = record.parse(JSON.parse(row.body.toString('utf8')))
  const settlement = record.safeParse(body['settlement']).data
  const evidence = record.safeParse(settlement?.['evidence']).data
  const transactionBase64 = evidence?.['transactionBase64'] ?? body['transactionBase64']
  return {
    event: {
      position: row.seq,
      kind: row.kind,
      effectiveAt: isoTime(row.effective_at.getTime()),
      recordedAt: isoTime(row.recorded_at.getTime()),
      leafHash: row.leaf_hash.toString('hex'),
      entries: (row.entries ?? []).map(({ account, mint, amount }) => ({ account, mint, amountBaseUnits: amount })),
      body,
    },
    transactionBase64: typeof transactionBase64 === 'string' ? transactionBase64 : null,
  }
}

/** Returns the first value of the field. Empty if no event has the field, for example in a payout. */
function firstText(bodies: readonly Body[], field: 'wallet' | 'endpoint'): string {
  for (const body of bodies) {
    const settlement = record.safeParse(body['settlement']).data
    const price = record.safeParse((settlement ?? body)['price']).data
    for (const value of [body[field], settlement?.[field], price?.[field]]) if (typeof value === 'string') return value
  }
  return ''
}
