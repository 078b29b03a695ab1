import pg from 'pg'
import { assertPresent } from '../../src/primitives/assert.ts'
import type { Aspect, FindingCode } from '../../src/audit/findings.ts'
import { tamper } from '../store/tamper.ts'

/* What a superuser who switches every trigger off can do to a book, and how an audit must find it. */

export interface Found {
  readonly aspect: Aspect
  readonly code: FindingCode
  /** Undefined where the finding has no place in the ledger. */
  readonly position: number | undefined
}

export interface Tampering {
  readonly name: string
  /** Does it, and says what an audit has to find first in that aspect. */
  readonly run: (book: TamperedBook) => Promise<Found>
}

/** A copy of the book that may be spoiled. */
export interface TamperedBook {
  sql(statement: string): Promise<void>
  value(query: string): Promise<number>
  /** The position of the nth event of a kind, from 0. */
  nth(kind: string, index: number): Promise<number>
  /** The size of the first checkpoint that covers the position. */
  checkpointOver(position: number): Promise<number>
  head(): Promise<number>
}

export async function withTamperedBook<T>(adminUrl: string, work: (book: TamperedBook) => Promise<T>): Promise<T> {
  const admin = new pg.Pool({ connectionString: adminUrl, max: 1, application_name: 'tampering' })
  const value = async (query: string): Promise<number> => {
    const { rows } = await admin.query<{ value: string | null }>({ text: query })
    return Number(assertPresent(rows[0]?.value, `one value for ${query}`))
  }
  try {
    return await work({
      sql: (statement) => tamper(admin, statement),
      value,
      nth: (kind, index) =>
        value(`select seq as value from ledger.events where kind = '${kind}' order by seq offset ${index} limit 1`),
      checkpointOver: (position) =>
        value(`select min(size) as value from ledger.checkpoints where size >= ${position}`),
      head: () => value('select max(seq) as value from ledger.events'),
    })
  } finally {
    await admin.end()
  }
}

/** Makes the leaf of a row again, as somebody would who knows how it is made. */
const forgeLeaf = `update ledger.events set leaf_hash = sha256('\\x00'::bytea || int8send(seq)
  || int8send((extract(epoch from recorded_at) * 1000)::bigint) || body)`

function editBody(position: number, from: string, to: string): string {
  return `update ledger.events set body = convert_to(regexp_replace(convert_from(body, 'UTF8'), '${from}', '${to}'), 'UTF8')
    where seq = ${position}`
}

/** A body changed by somebody who makes its leaf again. The tree tells, and so does the rule that was broken. */
function forged(
  name: string,
  edit: { readonly kind: string; readonly from: string; readonly to: string; readonly nth?: number },
  found: { readonly aspect: Aspect; readonly code: FindingCode },
): Tampering {
  return {
    name: `${name}, its leaf made again`,
    run: async (book) => {
      const position = await book.nth(edit.kind, edit.nth ?? 4)
      await book.sql(`${editBody(position, edit.from, edit.to)}; ${forgeLeaf} where seq = ${position}`)
      return { ...found, position }
    },
  }
}

function onRow(
  name: string,
  kind: string,
  found: Omit<Found, 'position'>,
  statement: (position: number) => string,
): Tampering {
  return {
    name,
    run: async (book) => {
      const position = await book.nth(kind, 5)
      await book.sql(statement(position))
      return { ...found, position }
    },
  }
}

/** A projection changed: the finding is at the payment's last event. */
function onPayment(name: string, assignment: string): Tampering {
  return {
    name,
    run: async (book) => {
      const where = `where signature = (select signature from ledger.payments where state = 'fulfilled' order by seqs offset 3 limit 1)`
      const position = await book.value(`select seqs[cardinality(seqs)] as value from ledger.payments ${where}`)
      await book.sql(`update ledger.payments set ${assignment} ${where}`)
      return { aspect: 'completeness', code: 'payment_row_differs', position }
    },
  }
}

const leafMismatch = { aspect: 'integrity', code: 'leaf_mismatch' } as const
const column = { aspect: 'integrity', code: 'column_differs' } as const

const bytes: readonly Tampering[] = [
  onRow('a byte of a body', 'ProofClaimed', leafMismatch, (position) =>
    editBody(position, '"attempt":\\d', '"attempt":7'),
  ),
  onRow(
    'a leaf hash',
    'RequestFulfilled',
    leafMismatch,
    (position) => `update ledger.events set leaf_hash = sha256('another') where seq = ${position}`,
  ),
  onRow(
    'the time of recording',
    'TokensBurned',
    leafMismatch,
    (position) =>
      `update ledger.events set recorded_at = recorded_at + interval '1 millisecond' where seq = ${position}`,
  ),
  onRow(
    'two bodies swapped',
    'RequestFulfilled',
    leafMismatch,
    (position) =>
      `update ledger.events e set body = o.body from ledger.events o
     where e.seq in (${position}, ${position + 1}) and o.seq = ${2 * position + 1} - e.seq`,
  ),
  onRow(
    'the column stream',
    'ProofClaimed',
    column,
    (position) => `update ledger.events set stream = 'another' where seq = ${position}`,
  ),
  onRow(
    'the column version',
    'ProofClaimed',
    column,
    (position) => `update ledger.events set version = version + 1 where seq = ${position}`,
  ),
  onRow(
    'the column kind',
    'RequestFailed',
    column,
    (position) => `update ledger.events set kind = 'RequestFulfilled' where seq = ${position}`,
  ),
  onRow(
    'the column schema_version',
    'ProofClaimed',
    column,
    (position) => `update ledger.events set schema_version = 2 where seq = ${position}`,
  ),
  onRow(
    'the column effective_at',
    'TokensBurned',
    column,
    (position) => `update ledger.events set effective_at = effective_at - interval '1 day' where seq = ${position}`,
  ),
  onRow(
    'the time of recording set back, its leaf made again',
    'ProofClaimed',
    { aspect: 'integrity', code: 'recorded_out_of_order' },
    (position) =>
      `update ledger.events set recorded_at = recorded_at - interval '1 hour' where seq = ${position}; ${forgeLeaf} where seq = ${position}`,
  ),
  forged(
    'a space in a body',
    { kind: 'ProofClaimed', from: '"attempt":', to: '"attempt": ' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'a key twice in a body',
    { kind: 'ProofClaimed', from: '"attempt":', to: '"attempt":1,"attempt":' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'an event of a kind that there is not',
    { kind: 'ProofClaimed', from: 'ProofClaimed', to: 'ProofKept' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
  forged(
    'an amount with a leading zero',
    { kind: 'TokensBurned', from: '"burnedBaseUnits":"', to: '"burnedBaseUnits":"0' },
    { aspect: 'integrity', code: 'body_unreadable' },
  ),
]

const rules: readonly Tampering[] = [
  forged(
    'the attempt of a claim',
    { kind: 'ProofClaimed', from: '"attempt":1', to: '"attempt":2', nth: 0 },
    { aspect: 'arithmetic', code: 'attempt_wrong' },
  ),
  forged(
    'the attempt of a fulfilment',
    { kind: 'RequestFulfilled', from: '"attempt":\\d', to: '"attempt":9' },
    { aspect: 'arithmetic', code: 'attempt_wrong' },
  ),
  forged(
    'the wallet of a claim',
    { kind: 'ProofClaimed', from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  forged(
    'the endpoint of a claim',
    { kind: 'ProofClaimed', from: '"endpoint":"[^"]*"', to: '"endpoint":"/api/other"' },
    { aspect: 'arithmetic', code: 'owner_differs' },
  ),
  forged(
    'the wallet of a payment',
    { kind: 'PaymentVerified', from: '"wallet":"....', to: '"wallet":"1111' },
    { aspect: 'chainTruth', code: 'transaction_bytes_wrong' },
  ),
  forged(
    'the price of a payment',
    { kind: 'PaymentVerified', from: '"priceMicroUsd":"\\d+"', to: '"priceMicroUsd":"1"' },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'a price that nobody offered',
    {
      kind: 'PaymentVerified',
      nth: 3,
      from: '"priceMicroUsd":"10000"(.*)"tokenPriceAttoUsd":"1000000000000000"',
      to: '"priceMicroUsd":"20000"\\1"tokenPriceAttoUsd":"2000000000000000"',
    },
    { aspect: 'arithmetic', code: 'price_not_published' },
  ),
  forged(
    'the split of a price',
    { kind: 'PaymentVerified', from: '"treasuryBaseUnits":"\\d+"', to: '"treasuryBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'price_wrong' },
  ),
  forged(
    'what was received',
    { kind: 'PaymentVerified', from: '"receivedBaseUnits":"\\d+"', to: '"receivedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'payment_short' },
  ),
  forged(
    'what was burned',
    { kind: 'TokensBurned', from: '"burnedBaseUnits":"\\d+"', to: '"burnedBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'burn_differs' },
  ),
  forged(
    'what was distributed',
    { kind: 'DistributionAllocated', from: '"treasuryBaseUnits":"\\d+"', to: '"treasuryBaseUnits":"1"' },
    { aspect: 'arithmetic', code: 'distribution_differs' },
  ),
  forged(
    'the quote of a payment',
    { kind: 'PaymentVerified', from: '"quoteId":"quote_..', to: '"quoteId":"quote_xx' },
    { aspect: 'integrity', code: 'tile_differs' },
  ),
  forged(
    'the signature of a payment',
    { kind: 'PaymentVerified', from: '"signature":"....', to: '"signature":"1111' },
    { aspect: 'arithmetic', code: 'life_impossible' },
  ),
  forged(
    'the version of an event',
    { kind: 'RequestFulfilled', from: '"version":\\d+', to: '"version":40' },
    { aspect: 'completeness', code: 'version_missing' },
  ),
  forged(
    'a byte of a stored transaction',
    { kind: 'PaymentVerified', from: '"transactionBase64":"(.{200}).', to: '"transactionBase64":"\\1A' },
    { aspect: 'chainTruth', code: 'transaction_bytes_wrong' },
  ),
  {
    name: 'a second fulfilment, appended with its leaf and the head',
    run: async (book) => {
      const [position, head] = [await book.nth('RequestFulfilled', 2), await book.head()]
      await book.sql(`insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
        select ${head + 1}, stream, version, kind, schema_version, (select recorded_at from ledger.head), effective_at, body, leaf_hash
        from ledger.events where seq = ${position};
        ${forgeLeaf} where seq = ${head + 1};
        update ledger.head set seq = ${head + 1}`)
      return { aspect: 'arithmetic', code: 'life_impossible', position: head + 1 }
    },
  },
]

const gaps: readonly Tampering[] = [
  {
    name: 'the newest five events taken away',
    run: async (book) => {
      const head = await book.head()
      await book.sql(
        `delete from ledger.entries where seq > ${head - 5}; delete from ledger.events where seq > ${head - 5}`,
      )
      return { aspect: 'completeness', code: 'tree_too_small', position: head - 4 }
    },
  },
  {
    name: 'the newest events taken away, with entries, checkpoints and the head set back',
    run: async (book) => {
      const head = await book.head()
      await book.sql(`delete from ledger.entries where seq > ${head - 5}; delete from ledger.events where seq > ${head - 5};
        delete from ledger.checkpoints where size > ${head - 5};
        update ledger.head set seq = ${head - 5}, recorded_at = (select recorded_at from ledger.events where seq = ${head - 5})`)
      // The auditor's own checkpoint.
      return { aspect: 'completeness', code: 'tree_too_small', position: head - 4 }
    },
  },
  {
    name: 'an event from the middle taken away',
    run: async (book) => {
      const position = await book.nth('ProofClaimed', 9)
      await book.sql(`delete from ledger.events where seq = ${position}`)
      return { aspect: 'completeness', code: 'position_missing', position }
    },
  },
  {
    name: 'a payment taken away whole, everything behind it renumbered with new leaves',
    run: async (book) => {
      const position = await book.nth('PaymentVerified', 7)
      const gone = `(select stream from ledger.events where seq = ${position})`
      await book.sql(
        `
        create temp table gone as select seq from ledger.events where stream = ${gone};
        delete from ledger.entries where seq in (select seq from gone);
        delete from ledger.payments where seqs[1] in (select seq from gone);
        delete from ledger.events where seq in (select seq from gone);
        create temp table moved as select seq, row_number() over (order by seq) as now from ledger.events;
        update ledger.entries e set seq = -m.now from moved m where e.seq = m.seq;
        update ledger.events e set seq = m.now from moved m where e.seq = m.seq`.replace(
          'set seq = -m.now',
          'set seq = m.now',
        ),
      )
      await book.sql(`${forgeLeaf};
        update ledger.head set seq = (select max(seq) from ledger.events);
        drop table gone; drop table moved`)
      return { aspect: 'integrity', code: 'tile_differs', position }
    },
  },
  {
    name: 'the first event replaced, its leaf made again',
    run: async (book) => {
      await book.sql(`${editBody(1, '"source":"fixed"', '"source":"other"')}; ${forgeLeaf} where seq = 1`)
      return { aspect: 'integrity', code: 'tile_differs', position: 1 }
    },
  },
  {
    name: 'the head set back',
    run: async (book) => {
      const head = await book.head()
      await book.sql(`update ledger.head set seq = ${head - 3}`)
      return { aspect: 'completeness', code: 'head_differs', position: head - 2 }
    },
  },
  {
    name: 'the row of a payment taken away, so that its proof could be used again',
    run: async (book) => {
      const position = await book.value(
        `select max(s) as value from (select unnest(seqs) s from (select seqs from ledger.payments order by seqs offset 2 limit 1) p) q`,
      )
      await book.sql(`delete from ledger.payments where ${position} = any (seqs)`)
      return { aspect: 'completeness', code: 'payment_row_missing', position }
    },
  },
  {
    name: 'the row of a payment that no event has',
    run: async (book) => {
      await book.sql(`insert into ledger.payments select sha512('x'), version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at
        from ledger.payments where state = 'fulfilled' order by seqs limit 1`)
      const position = await book.value(`select seqs[1] as value from ledger.payments where signature = sha512('x')`)
      return { aspect: 'completeness', code: 'payment_row_unexpected', position }
    },
  },
  onPayment('the state of a payment', `state = 'released'`),
  onPayment('the wallet of a payment row', `wallet = endpoint`),
  onPayment('the endpoint of a payment row', `endpoint = '/api/other'`),
  onPayment('the attempt of a payment row', `attempt = attempt + 1`),
  onPayment('the positions of a payment row', `seqs = seqs[1:cardinality(seqs) - 1] || seqs[1]`),
  onPayment('the quote of a payment row', `quote_id = 'quote_other'`),
]

const tables: readonly Tampering[] = [
  onRow(
    'an amount of an entry',
    'DistributionAllocated',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set amount = amount + 1 where seq = ${position} and line = 2`,
  ),
  onRow(
    'the account of an entry',
    'DistributionAllocated',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set account = 'Liabilities:Provider' where seq = ${position} and line = 5`,
  ),
  onRow(
    'two amounts of one event, so that it still sums to zero',
    'PaymentVerified',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set amount = amount * 2 where seq = ${position} and line < 2`,
  ),
  onRow(
    'the mint of an entry',
    'TokensBurned',
    { aspect: 'arithmetic', code: 'entry_differs' },
    (position) => `update ledger.entries set mint = 'another' where seq = ${position}`,
  ),
  onRow(
    'an entry taken away',
    'TokensBurned',
    { aspect: 'arithmetic', code: 'entry_missing' },
    (position) => `delete from ledger.entries where seq = ${position} and line = 1`,
  ),
  onRow(
    'an entry added',
    'ProofClaimed',
    { aspect: 'arithmetic', code: 'entry_unexpected' },
    (position) =>
      `insert into ledger.entries select ${position}, 0, account, mint, amount from ledger.entries where seq < ${position} limit 1`,
  ),
  {
    name: 'a balance',
    run: async (book) => {
      await book.sql(`update ledger.balances set balance = balance + 1 where account = 'Liabilities:Treasury'`)
      const position = await book.value(
        `select upto_seq as value from ledger.balances where account = 'Liabilities:Treasury'`,
      )
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
  {
    name: 'a balance taken away',
    run: async (book) => {
      const position = await book.value(
        `select upto_seq as value from ledger.balances where account = 'Expenses:Burned'`,
      )
      await book.sql(`delete from ledger.balances where account = 'Expenses:Burned'`)
      return { aspect: 'arithmetic', code: 'balance_differs', position }
    },
  },
  {
    name: 'what was burned on a day',
    run: async (book) => {
      await book.sql(
        `update ledger.burn_totals set burned = burned + 1 where span = 'day' and starts_at = (select min(starts_at) from ledger.burn_totals where span = 'day')`,
      )
      return { aspect: 'arithmetic', code: 'burn_total_differs', position: undefined }
    },
  },
  {
    name: 'what was burned in an hour, taken away',
    run: async (book) => {
      await book.sql(
        `delete from ledger.burn_totals where span = 'hour' and starts_at = (select min(starts_at) from ledger.burn_totals where span = 'hour')`,
      )
      return { aspect: 'arithmetic', code: 'burn_total_differs', position: undefined }
    },
  },
  {
    name: 'a price list',
    run: async (book) => {
      await book.sql(
        `update ledger.price_lists set body = convert_to(replace(convert_from(body, 'UTF8'), '"10000"', '"10001"'), 'UTF8')`,
      )
      return { aspect: 'completeness', code: 'price_list_differs', position: 1 }
    },
  },
  {
    name: 'a price list taken away',
    run: async (book) => {
      await book.sql('delete from ledger.price_lists')
      return { aspect: 'completeness', code: 'price_list_differs', position: 1 }
    },
  },
  {
    name: 'the quote that was paid',
    run: async (book) => {
      const paid = `(select quote_id from ledger.payments where quote_id is not null order by seqs offset 2 limit 1)`
      const position = await book.value(
        `select seqs[cardinality(seqs)] as value from ledger.payments where quote_id = ${paid}`,
      )
      await book.sql(`update ledger.quotes set required = required - 1, provider = provider - 1 where id = ${paid}`)
      return { aspect: 'completeness', code: 'quote_differs', position }
    },
  },
]

const seals: readonly Tampering[] = [
  {
    name: 'the root of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      await book.sql(`update ledger.checkpoints set root = sha256('x') where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_root_differs', position: size }
    },
  },
  {
    name: 'the note of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      await book.sql(
        `update ledger.checkpoints set note = replace(note, '${size}', '${size + 1}') where size = ${size}`,
      )
      return { aspect: 'integrity', code: 'checkpoint_malformed', position: size }
    },
  },
  {
    name: 'the signature of a checkpoint',
    run: async (book) => {
      const size = await book.checkpointOver(100)
      const other = await book.checkpointOver(1)
      await book.sql(`update ledger.checkpoints set note = split_part(note, E'\\n\\n', 1) || E'\\n\\n' ||
        (select split_part(note, E'\\n\\n', 2) from ledger.checkpoints where size = ${other}) where size = ${size}`)
      return { aspect: 'integrity', code: 'checkpoint_signature_wrong', position: size }
    },
  },
  {
    name: 'a hash of a tile',
    run: async (book) => {
      await book.sql(
        `update ledger.tiles set hashes = overlay(hashes placing sha256('x') from 32 * 40 + 1) where level = 0 and index = 0`,
      )
      return { aspect: 'integrity', code: 'tile_differs', position: 41 }
    },
  },
]

export const tamperings: readonly Tampering[] = [...bytes, ...rules, ...gaps, ...tables, ...seals]
