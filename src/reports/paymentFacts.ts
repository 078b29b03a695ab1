import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { readAddress } from '@tollbook/core/address'
import type { ListedPrice } from '@tollbook/core/quote'
import { ledgerCodec, paymentCodec, type PaymentEvent } from '../payment/events.ts'
import type { PaymentState } from '../payment/payment.ts'
import { type PaymentReference, readReference, referenceOfStream, streamIdOf } from '../payment/paymentReference.ts'
import { accounts } from '../accounting/account.ts'
import { type Database, assertRow, readRows } from '../store/database.ts'
import { findAccounted } from '../store/lifecycleStore.ts'
import { reportPosition } from './rollUp.ts'
import { foldPayment } from '../store/foldPayment.ts'
import type { QuoteRow } from '../store/quoteStore.ts'

export type PaymentFacts = ReturnType<typeof createPaymentFacts>

export interface RecordedPayment {
  readonly kind: string
  readonly state: PaymentState
  /** Name of the state in the ledger, with its finality. */
  readonly stateName: string
  readonly events: readonly RecordedPaymentEvent[]
}

export interface RecordedPaymentEvent {
  readonly position: number
  readonly recordedAtMs: number
  readonly leafHash: string
  /** The decoded event. Undefined in the stream of a payout or a burn. */
  readonly event: PaymentEvent | undefined
}

export interface QuotesQuestion {
  readonly wallet: string
  readonly fromMs: number
  readonly toMs: number
}

export interface QuoteFact {
  readonly id: string
  readonly wallet: string
  readonly memo: string
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  readonly slot: number
  readonly price: ListedPrice
}

/** Reads recorded facts for a diagnosis. Every method throws a retryable `Fault` if the database does not answer. */
export function createPaymentFacts(database: Database) {
  return {
    payment: (reference: PaymentReference) => readPayment(database, reference),
    /** Returns the quotes of a wallet, newest first. Quotes are dropped after days, so an old payment may have none. */
    quotesOf: (question: QuotesQuestion) => readQuotes(database, question),
    quote: (id: string) => readQuote(database, id),
    paymentOfQuote: (quote: QuoteFact) => findPaymentOfQuote(database, quote),
    /** Finds the payment whose delivery has a leaf hash that starts with these digits. */
    paymentOfLeaf: (leafHashStart: string) => findPaymentOfLeaf(database, leafHashStart),
    pricesAt: (atMs: number) => readPricesAt(database, atMs),
    walletBalance: (mint: string) => readWallet(database, mint),
    accounted: (references: readonly PaymentReference[]) => findAccounted(database, references),
    /** Returns the time at which a wallet first presented a proof that could not be decided at once. */
    presentedAtMs: (reference: PaymentReference) => readPresented(database, reference),
  }
}

interface EventRow {
  readonly stream_kind: string
  readonly stream_state: string
  readonly seq: number
  readonly version: number
  readonly schema_version: number
  readonly kind: string
  readonly recorded_at: Date
  readonly effective_at: Date
  readonly body: Buffer
  readonly leaf_hash: string
}

const paymentKinds: ReadonlySet<string> = new Set(paymentCodec.kinds)

async function readPayment(database: Database, reference: PaymentReference): Promise<RecordedPayment | undefined> {
  const id = Buffer.from(streamIdOf(reference))
  const rows = await readRows(database, 'a payment')<EventRow>`
    select s.kind as stream_kind, s.state as stream_state, e.seq, e.version, e.schema_version, e.kind, e.recorded_at,
      e.effective_at, e.body, encode(e.leaf_hash, 'hex') as leaf_hash
    from ledger.streams s
    cross join lateral ledger.read(s.id) e
    where s.id = ${id}
    order by e.seq`
  const [first] = rows
  if (first === undefined) return undefined
  const recorded = rows.map(({ seq, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash }) => ({
    position: seq,
    version,
    kind,
    schemaVersion: schema_version,
    recordedAtMs: recorded_at.getTime(),
    effectiveAtMs: effective_at.getTime(),
    body,
    leafHash: leaf_hash,
  }))
  return {
    kind: first.stream_kind,
    stateName: first.stream_state,
    state: foldPayment(recorded),
    events: recorded.map(({ position, recordedAtMs, leafHash, kind, body }) => {
      const event = paymentKinds.has(kind) ? paymentCodec.decode(body.toString('utf8')).event : undefined
      return { position, recordedAtMs, leafHash, event }
    }),
  }
}

interface ListedQuote extends Omit<QuoteRow, 'mint' | 'required'> {
  readonly list: Buffer
}

// Maximum of quotes, because a program may request thousands in a loop.
const quotesMax = 100

const quoteColumns = sql`
  q.id, q.wallet, q.endpoint, q.memo, q.price_list, q.issued_at, q.expires_at, q.slot, s.body as list
  from ledger.quotes q
  join ledger.settings s on s.name = 'prices' and s.number = q.price_list`

async function readQuotes(database: Database, { wallet, fromMs, toMs }: QuotesQuestion): Promise<readonly QuoteFact[]> {
  const rows = await readRows(database, 'the quotes of a wallet')<ListedQuote>`
    select ${quoteColumns}
    where q.wallet = ${wallet} and q.issued_at >= ${new Date(fromMs)} and q.issued_at <= ${new Date(toMs)}
    order by q.issued_at desc
    limit ${quotesMax}`
  return rows.flatMap(quoteOf)
}

/**
 * Reads a quote by searching all stored partitions. The id has no index, because each 402 would have to update that
 * index.
 */
async function readQuote(database: Database, id: string): Promise<QuoteFact | undefined> {
  const rows = await readRows(database, 'a quote')<ListedQuote>`select ${quoteColumns} where q.id = ${id} limit 1`
  return rows.flatMap(quoteOf)[0]
}

function quoteOf(row: ListedQuote): readonly QuoteFact[] {
  const price = pricesOf(row.list, row.price_list).find(({ endpoint }) => endpoint === row.endpoint)
  if (price === undefined) return []
  const { id, wallet, memo, slot } = row
  return [{ id, wallet, memo, slot, price, issuedAtMs: row.issued_at.getTime(), expiresAtMs: row.expires_at.getTime() }]
}

function pricesOf(list: Buffer, priceList: number): readonly ListedPrice[] {
  const { event } = ledgerCodec.decode(list.toString('utf8'))
  return event.kind === 'PriceListPublished' ? event.prices.map((price) => ({ ...price, priceList })) : []
}

// Maximum of payments to search, because a wallet that buys in a loop has many. The payment of a quote is among those
// nearest to its time.
const candidatesMax = 500
const presentedWithinMs = 24 * 60 * 60 * 1000

/**
 * Finds the payment of a quote. Searches the list of payments, and the events that the roll-up has not reached.
 * Otherwise a payment of the last second would be diagnosed as an unpaid quote.
 */
async function findPaymentOfQuote(database: Database, quote: QuoteFact): Promise<PaymentReference | undefined> {
  const untilMs = quote.expiresAtMs + presentedWithinMs
  const rows = await readRows(database, 'the payment of a quote')<{ reference: string }>`
    select p.reference
    from (
      select reference, stream from reports.payments
      where wallet = ${quote.wallet} and endpoint = ${quote.price.endpoint}
        and paid_at >= ${new Date(quote.issuedAtMs - presentedWithinMs)} and paid_at <= ${new Date(untilMs)}
      order by abs(extract(epoch from paid_at - ${new Date(quote.issuedAtMs)}::timestamptz))
      limit ${candidatesMax}
    ) p
    join ledger.streams s on s.stream = p.stream and s.kind = 'payment'
    cross join lateral ledger.read(s.id) e
    where e.kind = 'PaymentVerified'
      and convert_from(e.body, 'UTF8')::jsonb #>> '{settlement,quoteId}' = ${quote.id}
    union all
    select convert_from(e.body, 'UTF8')::jsonb ->> 'stream'
    from ledger.events e
    where e.seq > (select upto_seq from reports.progress) and e.kind = 'PaymentVerified'
      and convert_from(e.body, 'UTF8')::jsonb #>> '{settlement,quoteId}' = ${quote.id}
    limit 1`
  return readReference(rows[0]?.reference ?? '')
}

/**
 * Finds the payment of a delivery. Searches the list of payments first, because it has an index. The tiles of 256
 * leaves and the remaining events have none.
 */
async function findPaymentOfLeaf(database: Database, leafHashStart: string): Promise<PaymentReference | undefined> {
  const start = Buffer.from(leafHashStart, 'hex')
  const listed = await readRows(database, 'the payment of a receipt')<{ id: Buffer }>`
    select s.id from reports.payments p join ledger.streams s on s.stream = p.stream where p.receipt = ${start}`
  const id = listed[0]?.id ?? (await findBehindTheList(database, start))
  return id === undefined ? undefined : referenceOfStream(id)
}

/**
 * Searches the tiles and events that the list of payments does not cover yet. The bounds are constants, because the
 * planner misjudges subqueries.
 */
async function findBehindTheList(database: Database, start: Buffer): Promise<Buffer | undefined> {
  const { position } = await reportPosition(database)
  const tiles = await readRows(database, 'the payment of a receipt')<{ upto: number }>`
    select coalesce((max(index) + 1) * ${leavesPerTile}, 0)::bigint as upto from ledger.tiles where level = 0`
  const rows = await readRows(database, 'the payment of a receipt')<{ id: Buffer }>`
    with found as (
      select t.index * ${leavesPerTile} + (position(${start} in t.hashes) - 1) / 32 + 1 as seq
      from ledger.tiles t
      where t.level = 0 and t.index >= ${Math.floor(position / leavesPerTile)} and position(${start} in t.hashes) > 0
      union all
      select e.seq
      from ledger.events e
      where e.seq > ${Math.max(position, tiles[0]?.upto ?? 0)} and substr(e.leaf_hash, 1, ${start.length}) = ${start}
    )
    select s.id
    from found f
    join ledger.events e on e.seq = f.seq and e.kind in ('RequestFulfilled', 'TabCaptured')
    join ledger.streams s on s.stream = e.stream
    limit 1`
  return rows[0]?.id
}

const leavesPerTile = 256

async function readPricesAt(database: Database, atMs: number): Promise<readonly ListedPrice[]> {
  const rows = await readRows(database, 'the prices in force')<{ number: number; body: Buffer }>`
    select number, body from ledger.setting_at('prices', ${new Date(atMs)})`
  return rows.flatMap(({ number, body }) => pricesOf(body, number))
}

async function readWallet(database: Database, mint: string): Promise<bigint> {
  const rows = await readRows(database, 'the balance of the payment wallet')<{ balance: string }>`
    select balance::text as balance from ledger.accounts where mint = ${mint} and name = ${accounts.paymentWallet}`
  return BigInt(rows[0]?.balance ?? 0)
}

async function readPresented(database: Database, reference: PaymentReference): Promise<number | undefined> {
  const { presented_at: presentedAt } = await assertRow(database, 'a first presentation')<{
    presented_at: Date | null
  }>`
    select min(presented_at) as presented_at from work.presentations
    where reference = ${Buffer.from(streamIdOf(reference))}`
  return presentedAt?.getTime()
}

/** Returns the wallet of a stored quote. It is valid, because it was checked before the quote was stored. */
export function walletOfQuote({ wallet }: Pick<QuoteFact, 'wallet'>) {
  return assertPresent(readAddress(wallet), 'a stored quote names a wallet')
}
