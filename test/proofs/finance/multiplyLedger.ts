import { encodeBase58 } from '@tollbook/core/base58'
import { assert, assertPresent } from '@tollbook/core/assert'
import { randomBytesOf } from '@tollbook/core/id'
import { withAdminSession } from '../../support/adminSession.ts'

export interface MultiplyOptions {
  /** The superuser's URL of a ledger that only `seedLedger` has written to. */
  readonly fromUrl: string
  /** The superuser's URL of a migrated database without events. */
  readonly toUrl: string
  /** Payments of the new ledger for each payment of the old one. */
  readonly factor: number
  readonly onProgress: (done: number, total: number) => void
}

type Session = Parameters<Parameters<typeof withAdminSession>[1]>[0]

const rowsPerRead = 5_000
const eventsPerWrite = 200_000

/**
 * Writes a ledger in which each append of another ledger happens `factor` times in a row, each time to a payment of
 * another signature. The kernel's append takes an hour for a million payments on a busy machine; this takes minutes.
 * Positions, hashes, balances and reports are those that the appends would have left, and the audit of the result says
 * so.
 */
export async function multiplyLedger({ fromUrl, toUrl, factor, onProgress }: MultiplyOptions): Promise<void> {
  assert(factor >= 1, 'a ledger is multiplied')
  await withAdminSession(toUrl, async (session) => {
    await session.query(preparation)
    await withAdminSession(fromUrl, (source) => copyTables(source, session))
    await session.query(indexes)
    await makeReferences(session, factor)
    const { rows } = await session.query<{ seq: number }>('select seq::int from seed.events order by seq desc limit 1')
    const total = assertPresent(rows[0], 'the seed has events').seq
    const step = Math.max(1, Math.floor(eventsPerWrite / factor))
    for (let from = 0; from < total; from += step) {
      onProgress(from * factor, total * factor)
      await session.query(writeEvents, [factor, from, from + step])
    }
    for (const statement of writeTheRest) await session.query(statement, [factor])
    onProgress(total * factor, total * factor)
    await session.query('drop schema seed cascade')
  })
}

const copied = [
  'ledger.events',
  'ledger.streams',
  'ledger.accounts',
  'ledger.tallies',
  'ledger.head',
  'work.open',
  'work.progress',
  'reports.progress',
  'reports.payments',
  'reports.daily_totals',
  'reports.wallet_totals',
  'reports.payment_totals',
  'reports.late_entries',
  'reports.day_prices',
] as const

function seedTable(table: string): string {
  return `seed.${table.replace('.', '_').replace('ledger_', '')}`
}

// The guards of the ledger admit its own functions only, which this stands in for. The clone has no event, so nothing
// is changed.
const preparation = `
  set ledger.writing = 'on';
  set work_mem = '256MB';
  set jit = off;
  create schema seed;
  ${copied.map((table) => `create unlogged table ${seedTable(table)} (like ${table});`).join('\n')}
  create unlogged table seed.copies (
    stream bigint not null, copy integer not null, key text not null, id bytea not null);`

/** As JSON: both sides have the same types, and a short ledger fits in memory. */
async function copyTables(source: Session, target: Session): Promise<void> {
  for (const table of copied) {
    const { rows } = await source.query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t`)
    for (let from = 0; from < rows.length; from += rowsPerRead) {
      const page = rows.slice(from, from + rowsPerRead).map(({ row }) => row)
      const copy = `insert into ${seedTable(table)} select * from jsonb_populate_recordset(null::${seedTable(table)}, $1)`
      await target.query(copy, [`[${page.join(',')}]`])
    }
  }
}

// An item is what one append added to a stream: positions that follow each other. `home` is the item that began the
// stream.
const indexes = `
  create unlogged table seed.items as
    select stream, recorded_at, min(seq) as first, count(*)::integer as events from seed.events group by stream, recorded_at;
  create unlogged table seed.written as
    select e.*, i.first, i.events, h.events as home_events
    from seed.events e
    join seed.items i on i.stream = e.stream and i.recorded_at = e.recorded_at
    join seed.items h on h.first = e.stream;
  create index on seed.written (seq);
  create index on seed.items (stream);
  create index on seed.streams (stream);
  analyze seed.written, seed.items, seed.streams;`

const signatureBytes = 64
const copiesPerWrite = 20_000

/** The first copy of a payment keeps its signature. */
async function makeReferences(session: Session, factor: number): Promise<void> {
  const { rows } = await session.query<{ stream: string; id: Buffer }>('select stream, id from seed.streams')
  const columns = {
    stream: new Array<string>(),
    copy: new Array<number>(),
    key: new Array<string>(),
    id: new Array<Buffer>(),
  }
  const write = async () => {
    const { stream, copy, key, id } = columns
    const copies = 'select * from unnest($1::bigint[], $2::integer[], $3::text[], $4::bytea[])'
    await session.query(`insert into seed.copies (stream, copy, key, id) ${copies}`, [stream, copy, key, id])
    for (const column of Object.values(columns)) column.length = 0
  }
  for (const { stream, id } of rows) {
    assert(id.length === 1 + signatureBytes, 'the seed has payments only')
    for (let copy = 0; copy < factor; copy++) {
      const signature = copy === 0 ? id.subarray(1) : Buffer.from(randomBytesOf(signatureBytes))
      columns.stream.push(stream)
      columns.copy.push(copy)
      columns.key.push(encodeBase58(signature))
      columns.id.push(Buffer.concat([id.subarray(0, 1), signature]))
    }
    if (columns.id.length >= copiesPerWrite) await write()
  }
  await write()
  await session.query('create index on seed.copies (stream); analyze seed.copies')
}

// Place of an event at `seq` in the item at `first`: all items before it happened `factor` times, and its own `copy`
// times.
const place = (item: { first: string; events: string }) => `(${item.first} - 1) * $1 + c.copy * ${item.events} + 1`

const writeEvents = `
  insert into ledger.events (
    seq, stream, version, kind, schema_version, recorded_at, effective_at, debits, credits, amounts, body, leaf_hash)
  select w.seq, w.stream, w.version, w.kind, w.schema_version, w.recorded_at, w.effective_at, w.debits, w.credits, w.amounts, w.body,
    sha256('\\x00'::bytea || int8send(w.seq) || int8send((extract(epoch from w.recorded_at) * 1000)::bigint) || w.body)
  from (
    select ${place({ first: 'e.first', events: 'e.events' })} + e.seq - e.first as seq,
      ${place({ first: 'e.stream', events: 'e.home_events' })} as stream,
      e.version, e.kind, e.schema_version, e.recorded_at, e.effective_at, e.debits, e.credits, e.amounts,
      convert_to(replace(convert_from(e.body, 'UTF8'), own.key, c.key), 'UTF8') as body
    from seed.written e
    join seed.copies own on own.stream = e.stream and own.copy = 0
    join seed.copies c on c.stream = e.stream
    where e.seq > $2 and e.seq <= $3
    order by 1
    offset 0
  ) w`

const stream = place({ first: 'c.stream', events: 'h.events' })
const homeOfCopy = 'join seed.items h on h.first = c.stream'
const times = (...columns: readonly string[]) => columns.map((column) => `${column} * $1`).join(', ')
const timesShares =
  "(select coalesce(jsonb_object_agg(s.key, s.value::numeric * $1), '{}') from jsonb_each_text(t.shares) s)"

const writeTheRest = [
  `insert into ledger.streams (id, stream, kind, state, version, lease_until, seqs)
  select c.id, ${stream}, s.kind, s.state, s.version, s.lease_until, (
    select range_agg(int8range(${place({ first: 'i.first', events: 'i.events' })}, ${place({ first: 'i.first', events: 'i.events' })} + i.events))
    from seed.items i where i.stream = c.stream)
  from seed.copies c join seed.streams s on s.stream = c.stream ${homeOfCopy}`,
  `insert into ledger.accounts (id, mint, name, class, hourly, floor, ceiling, balance, entries, debit_entries, upto_seq)
  overriding system value
  select id, mint, name, class, hourly, floor, ceiling, ${times('balance', 'entries', 'debit_entries', 'upto_seq')} from seed.accounts`,
  `select setval(pg_get_serial_sequence('ledger.accounts', 'id'), (select max(id) from ledger.accounts)) where $1 > 0`,
  `insert into ledger.tallies select account, hour, ${times('amount', 'entries')} from seed.tallies`,
  `update ledger.head h set seq = s.seq * $1, recorded_at = s.recorded_at, clock_at = s.clock_at,
    leaf_hash = (select e.leaf_hash from ledger.events e where e.seq = s.seq * $1)
  from seed.head s`,
  `insert into work.open select o.queue, ${stream}, c.id, o.due_at
  from seed.work_open o join seed.copies c on c.stream = o.stream ${homeOfCopy}`,
  `update work.progress p set upto_seq = s.upto_seq * $1 from seed.work_progress s`,
  `insert into reports.payments (
    stream, reference, wallet, endpoint, mint, state, is_final, attempts, paid_at, fulfilled_at, finalized_at, slot, price_micro_usd,
    required, received, burned, burn_owed, lost, unearned, owed, shares, receipt)
  select ${stream}, 'solana:' || c.key, p.wallet, p.endpoint, p.mint, p.state, p.is_final, p.attempts, p.paid_at, p.fulfilled_at,
    p.finalized_at, p.slot, p.price_micro_usd, p.required, p.received, p.burned, p.burn_owed, p.lost, p.unearned, p.owed, p.shares,
    substr(f.leaf_hash, 1, 16)
  from seed.reports_payments p join seed.copies c on c.stream = p.stream ${homeOfCopy}
  left join seed.written d on d.stream = p.stream and d.kind = 'RequestFulfilled'
  left join ledger.events f on f.seq = ${place({ first: 'd.first', events: 'd.events' })} + d.seq - d.first`,
  `insert into reports.daily_totals (mint, day, kind, endpoint, account, debits, credits, payments, value_pico_usd)
  select mint, day, kind, endpoint, account, ${times('debits', 'credits', 'payments', 'value_pico_usd')} from seed.reports_daily_totals`,
  `insert into reports.wallet_totals (mint, wallet, day, payments, received, burned, burn_owed, lost, shares)
  select mint, wallet, day, ${times('payments', 'received', 'burned', 'burn_owed', 'lost')}, ${timesShares} from seed.reports_wallet_totals t`,
  `insert into reports.payment_totals (
    mint, wallet, day, endpoint, payments, received, burned, burn_owed, lost, unearned, owed, shares)
  select mint, wallet, day, endpoint, ${times('payments', 'received', 'burned', 'burn_owed', 'lost', 'unearned', 'owed')}, ${timesShares}
  from seed.reports_payment_totals t`,
  `insert into reports.late_entries (seq, mint, day, kind, endpoint, account, debits, credits, value_pico_usd)
  select ${place({ first: 'e.first', events: 'e.events' })} + e.seq - e.first, l.mint, l.day, l.kind, l.endpoint, l.account,
    l.debits, l.credits, l.value_pico_usd
  from seed.reports_late_entries l join seed.written e on e.seq = l.seq join seed.copies c on c.stream = e.stream`,
  `insert into reports.day_prices select mint, day, ${times('price_micro_usd', 'required', 'payments')} from seed.reports_day_prices`,
  `update reports.progress p set upto_seq = s.upto_seq * $1 from seed.reports_progress s`,
]
