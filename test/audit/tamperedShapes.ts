import { accountNumber, onRow, type Tampering, changed, onPlace } from './tampering.ts'

/*
 * Rows that the tables of a ledger cannot hold, after their constraints were dropped, and databases that show the
 * auditor other rows than everyone else.
 */

/** Drops every constraint of the table. */
function unbound(table: string): string {
  return `do $$ declare bound record; begin
    for bound in select conname from pg_constraint where conrelid = '${table}'::regclass and contype in ('c', 'f', 'u', 'p')
      loop execute format('alter table ${table} drop constraint if exists %I cascade', bound.conname); end loop;
    for bound in select attname from pg_attribute
        where attrelid = '${table}'::regclass and attnotnull and attnum > 0 and attidentity = '' and not attisdropped
      loop execute format('alter table ${table} alter %I drop not null', bound.attname); end loop;
  end $$`
}

const unplacedAspects = { declaration_differs: 'integrity', tally_differs: 'arithmetic' } as const

/** A change whose finding has no place in the ledger. */
function unplaced(name: string, code: keyof typeof unplacedAspects, statement: string): Tampering {
  return changed(name, { aspect: unplacedAspects[code], code, position: undefined }, statement)
}

function onTally(name: string, assignment: string): Tampering {
  const oneTally = 'ctid = (select ctid from ledger.tallies limit 1)'
  const statement = `${unbound('ledger.tallies')}; update ledger.tallies set ${assignment} where ${oneTally}`
  return unplaced(name, 'tally_differs', statement)
}

function onCheckpoint(
  name: string,
  code: 'checkpoint_malformed' | 'checkpoint_root_differs',
  assignment: string,
): Tampering {
  return {
    name,
    run: async (ledger) => {
      const size = await ledger.checkpointOver(100)
      await ledger.sql(
        `${unbound('ledger.checkpoints')}; update ledger.checkpoints set ${assignment} where size = ${size}`,
      )
      return { aspect: 'integrity', code, position: size }
    },
  }
}

function onTiles(name: string, change: string): Tampering {
  return changed(
    name,
    { aspect: 'integrity', code: 'tile_differs', position: 1 },
    `${unbound('ledger.tiles')}; update ledger.tiles set ${change}`,
  )
}

function onSetting(name: string, assignment: string): Tampering {
  return {
    name,
    run: async (ledger) => {
      const one = `(name, number) = (select name, number from ledger.settings order by seq limit 1)`
      const position = await ledger.value('select min(seq) as value from ledger.settings')
      await ledger.sql(`${unbound('ledger.settings')}; update ledger.settings set ${assignment} where ${one}`)
      return { aspect: 'completeness', code: 'setting_differs', position }
    },
  }
}

function onPayoutStream(name: string, change: (one: string) => string): Tampering {
  return {
    name,
    run: async (ledger) => {
      const one = `stream = (select max(stream) from ledger.streams where kind = 'payout')`
      const position = await ledger.value(`select upper(seqs) - 1 as value from ledger.streams where ${one}`)
      await ledger.sql(`${unbound('ledger.streams')}; ${change(one)}`)
      return { aspect: 'completeness', code: 'stream_differs', position }
    },
  }
}

const impossibleEvents: readonly Tampering[] = [
  onRow(
    'the version of an event that is null',
    ['ProofClaimed', 5],
    { aspect: 'integrity', code: 'column_differs' },
    (position) => `${unbound('ledger.events')}; update ledger.events set version = null where seq = ${position}`,
  ),
  onRow(
    'a part of a base unit in a posting',
    ['TokensBurned', 5],
    { aspect: 'arithmetic', code: 'posting_differs' },
    (position) => `update ledger.events set amounts[1] = amounts[1] + 0.5 where seq = ${position}`,
  ),
  onRow(
    'postings that are numbered from 7',
    ['TokensBurned', 5],
    { aspect: 'arithmetic', code: 'posting_differs' },
    (position) =>
      `${unbound('ledger.events')}; update ledger.events set debits = ('[7:7]=' || debits::text)::int[] where seq = ${position}`,
  ),
  {
    name: 'a microsecond added to the time of the last event',
    run: async (ledger) => {
      const position = await ledger.head()
      await ledger.sql(
        `update ledger.events set recorded_at = recorded_at + interval '1 microsecond' where seq = ${position}`,
      )
      return { aspect: 'integrity', code: 'leaf_mismatch', position }
    },
  },
  onRow(
    'an event that was recorded at the beginning of time',
    ['TokensBurned', 5],
    { aspect: 'integrity', code: 'leaf_mismatch' },
    (position) => `update ledger.events set recorded_at = '-infinity' where seq = ${position}`,
  ),
]

const impossibleRows: readonly Tampering[] = [
  {
    name: 'an account that does not say whether it has tallies',
    run: async (ledger) => {
      const id = await ledger.value(accountNumber('Assets:PaymentWallet'))
      const position = await ledger.value(
        `select max(seq) as value from ledger.events where ${id} = any (debits || credits)`,
      )
      await ledger.sql(`${unbound('ledger.accounts')}; update ledger.accounts set hourly = null where id = ${id}`)
      return { aspect: 'arithmetic', code: 'account_differs', position }
    },
  },
  onTally('a tally of the end of time', `hour = 'infinity'`),
  onTally('a tally of a year that no calendar has', `hour = '294000-01-01'`),
  onTally('a tally of no account', 'account = null'),
  onPayoutStream('positions of a stream that are null', (one) => `update ledger.streams set seqs = null where ${one}`),
  onPayoutStream(
    'a stream with two rows',
    (one) => `insert into ledger.streams select * from ledger.streams where ${one}`,
  ),
  onCheckpoint('a checkpoint without a note', 'checkpoint_malformed', 'note = null'),
  onCheckpoint('a checkpoint without a root', 'checkpoint_root_differs', 'root = null'),
  {
    name: 'a checkpoint of more events than JavaScript can count',
    run: async (ledger) => {
      const position = (await ledger.head()) + 1
      await ledger.sql(`insert into ledger.checkpoints select (json_populate_record(c, '{"size": 9223372036854775807}')).*
        from ledger.checkpoints c limit 1`)
      return { aspect: 'completeness', code: 'tree_too_small', position }
    },
  },
  onTiles('tiles without hashes', 'hashes = null'),
  onTiles('tiles without a root', 'root = null'),
  onSetting('a setting that is valid from the end of time', `valid_from = 'infinity'`),
  onSetting('a setting without a body', 'body = null'),
  {
    name: 'a head that was recorded at the end of time',
    run: async (ledger) => {
      const position = await ledger.head()
      await ledger.sql(`update ledger.head set recorded_at = 'infinity'`)
      return { aspect: 'completeness', code: 'head_differs', position }
    },
  },
  unplaced(
    'steps without events and moves',
    'declaration_differs',
    `${unbound('ledger.steps')}; update ledger.steps set event_kinds = null, moves = null`,
  ),
]

/** An increase of what a payment is said to have brought in, which the lie hides from the audit. */
const inflated = 'set received = received + 1'

export const lies: readonly Tampering[] = [
  unplaced(
    'reports that show the auditor other rows than finance',
    'declaration_differs',
    `alter table reports.payments rename to true_payments;
     create table reports.false_payments as select * from reports.true_payments;
     update reports.false_payments ${inflated};
     create view reports.payments as
       select * from reports.true_payments where current_setting('application_name') = 'tollbook audit'
       union all select * from reports.false_payments where current_setting('application_name') <> 'tollbook audit'`,
  ),
  unplaced(
    'checkpoints that a policy can hide',
    'declaration_differs',
    `alter table ledger.checkpoints enable row level security`,
  ),
  onPlace(
    'an operator that calls all amounts equal, in front of the search path',
    'select min(upper(s.seqs)) - 1 as value from ledger.streams s join reports.payments p on p.stream = s.stream',
    { aspect: 'arithmetic', code: 'report_differs' },
    () => `create schema evil;
        create function evil.yes(numeric, numeric) returns boolean language sql immutable as 'select true';
        create operator evil.= (leftarg = numeric, rightarg = numeric, function = evil.yes);
        do $$ begin execute format('alter database %I set search_path = evil, pg_catalog', current_database()); end $$;
        update reports.payments ${inflated}`,
  ),
]

export const tamperedShapes: readonly Tampering[] = [...impossibleEvents, ...impossibleRows, ...lies]
