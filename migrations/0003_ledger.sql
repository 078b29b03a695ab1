-- Why: the append-only ledger (docs/decisions/0002). `events` is the truth; every other table here except the
-- declaration is derived from it in the transaction that appends, and can be derived again.

-- The declaration: what a stream of each kind may do. Written by migrations/kinds/*.sql alone.
create table ledger.kinds (
  kind text not null,
  -- The first byte of the id. Kinds of one space share it, so one Solana transaction is never two of them.
  space smallint not null,
  -- Length of the id after the space byte; 0 allows any length.
  id_bytes integer not null default 0,
  -- Text that the id starts with after the space byte.
  id_prefix text not null default '',
  -- A stream of settings is `name#number`; its event is copied to ledger.settings.
  is_setting boolean not null default false,
  constraint kinds_one_row_each primary key (kind),
  constraint kinds_space_is_a_byte check (space between 0 and 255)
);

create table ledger.steps (
  step text not null,
  -- '' when the stream does not exist.
  from_state text not null,
  -- Exactly these events, in this order. One step may have several lists.
  event_kinds text[] not null,
  kind text not null,
  to_state text not null,
  -- 'take': the append starts a lease. 'none': it ends one.
  lease text not null default 'none',
  -- Only once the lease has ended by the clock of the database.
  after_lease boolean not null default false,
  -- Class of the debited account > class of the credited account.
  moves text[] not null default '{}',
  -- Writer of the step: the service calls ledger.append_batch, all others a separate function.
  writer text not null default 'service',
  -- Highest number that this step may record, for a setting.
  number_max integer,
  constraint steps_one_row_each primary key (step, from_state, event_kinds),
  constraint steps_have_a_kind foreign key (kind) references ledger.kinds (kind),
  constraint steps_lead_to_a_state check (to_state <> ''),
  constraint steps_append_events check (cardinality(event_kinds) > 0),
  constraint steps_lease_is_known check (lease in ('none', 'take')),
  constraint steps_writer_is_known check (writer in ('service', 'payout', 'burner', 'operator', 'finance'))
);

create table ledger.classes (
  class text not null,
  -- A whole account name, or what the names of the class start with.
  prefix text not null,
  is_exact boolean not null,
  -- An account is opened with these limits. Debits are positive: ceiling 0 means that never more is taken than was put in.
  floor numeric(38, 0),
  ceiling numeric(38, 0),
  -- Debits less credits are summed per hour in ledger.tallies.
  hourly boolean not null default false,
  constraint classes_one_row_each primary key (class),
  constraint classes_prefix_names_one_class unique (prefix)
);

-- Functions and declarations as applied: `tollbook migrate` applies a file again when its digest differs.
create table ledger.code (
  name text not null,
  digest bytea not null,
  applied_at timestamptz not null,
  constraint code_one_row_each primary key (name),
  constraint code_digest_is_sha256 check (octet_length(digest) = 32)
);

-- The only point of serialisation, over all instances: the holder of this row's lock assigns the next positions. Updated
-- by every append, so the row has room on its page for versions that are pruned without vacuum.
create table ledger.head (
  one boolean not null default true,
  seq bigint not null,
  recorded_at timestamptz not null,
  -- Clock of the database at the last append. The time of the ledger goes on from here when the clock goes back.
  clock_at timestamptz not null,
  -- Leaf hash of the newest event, so that an instance that has seen it compares without opening a partition.
  leaf_hash bytea,
  constraint head_is_one_row primary key (one),
  constraint head_is_the_one check (one)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);
insert into ledger.head (seq, recorded_at, clock_at) values (0, 'epoch', 'epoch');

create table ledger.events (
  seq bigint not null,
  -- Position of the stream's first event: 8 bytes where the id has 65.
  stream bigint not null,
  version integer not null,
  kind text not null,
  schema_version smallint not null,
  recorded_at timestamptz not null,
  effective_at timestamptz not null,
  -- Postings: one debited and one credited account each, so they cannot be out of balance (I17). ledger.entries shows
  -- each as two rows. Null when nothing moves.
  debits integer[],
  credits integer[],
  amounts numeric[],
  body bytea not null,
  leaf_hash bytea not null,
  constraint events_position_is_unique primary key (seq),
  constraint events_position_counts_from_one check (seq > 0),
  constraint events_version_counts_from_one check (version > 0),
  constraint events_leaf_is_sha256 check (octet_length(leaf_hash) = 32),
  -- Never null, because a check that is null passes.
  constraint events_postings_have_both_sides check (
    case when debits is null and credits is null and amounts is null then true
    else coalesce(
      cardinality(debits) = cardinality(amounts) and cardinality(credits) = cardinality(amounts)
        and array_position(debits, null) is null and array_position(credits, null) is null
        and array_position(amounts, null) is null and 0 < all (amounts),
      false)
    end),
  -- C2SP entry bundles give an entry two bytes of length; 16 of them are position and time.
  constraint events_body_fits_a_tile_entry check (octet_length(body) between 2 and 65519)
) partition by range (seq);
alter table ledger.events alter column body set storage external;
-- The burn job and the age of the oldest debt read the few events that concern owed burns, among any number of others.
-- The predicate is false for the events of native payments, so their appends write no further index entry.
create index events_of_burns on ledger.events (kind, seq)
  where kind in ('BurnOwed', 'PaymentReversed', 'BurnSubmitted', 'BurnConfirmed', 'BurnFailed');
-- The plan that is open, and what was paid by it, are read before each payout.
create index events_of_payouts on ledger.events (kind, seq)
  where kind in ('DistributionPaid', 'HolderPayoutPlanned', 'HolderPayoutEnded');

-- One row per stream, never deleted and never partitioned: the primary key makes a Solana transaction single-use (I1).
-- No index but on what never changes, so updates are HOT.
create table ledger.streams (
  id bytea not null,
  stream bigint not null,
  kind text not null,
  state text not null,
  version integer not null,
  lease_until timestamptz,
  -- Positions of its events: an append is one range.
  seqs int8multirange not null,
  constraint streams_id_used_once primary key (id),
  constraint streams_start_at_one_position unique (stream),
  constraint streams_id_has_a_space check (octet_length(id) between 2 and 256),
  constraint streams_version_counts_from_one check (version > 0)
) with (fillfactor = 60);

-- Chart of accounts and balances, opened by the append itself.
create table ledger.accounts (
  id integer generated always as identity,
  -- Collation C, so that a prefix of a name is a range of the index whatever the locale.
  mint text collate "C" not null,
  name text collate "C" not null,
  class text not null,
  hourly boolean not null,
  floor numeric(38, 0),
  ceiling numeric(38, 0),
  balance numeric(38, 0) not null default 0,
  entries bigint not null default 0,
  -- Number of debits among these: a count of burns less reversed burns is one number, at any length of the ledger.
  debit_entries bigint not null default 0,
  upto_seq bigint not null default 0,
  constraint accounts_one_row_each primary key (id),
  constraint accounts_name_is_unique_per_mint unique (mint, name),
  -- A null limit passes.
  constraint accounts_stay_within_limits check (balance >= floor and balance <= ceiling)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

create view ledger.entries as
  select e.seq, (2 * t.n - 2 + side.k)::smallint as line, a.name as account, a.mint, side.sign * t.amount as amount
  from ledger.events e
  cross join unnest(e.debits, e.credits, e.amounts) with ordinality as t (debit, credit, amount, n)
  cross join lateral (values (0, t.debit, 1), (1, t.credit, -1)) as side (k, account, sign)
  join ledger.accounts a on a.id = side.account;

-- Debits less credits per hour of their effective time, for the classes that ask for it. A day is at most 24 rows; all
-- time is the account's balance.
create table ledger.tallies (
  account integer not null,
  hour timestamptz not null,
  amount numeric(38, 0) not null,
  entries bigint not null,
  constraint tallies_one_row_per_hour primary key (account, hour)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

-- Settings of the ledger by number; the first event of `name#number`.
create table ledger.settings (
  name text not null,
  number integer not null,
  seq bigint not null,
  valid_from timestamptz not null,
  body bytea not null,
  constraint settings_one_row_per_number primary key (name, number),
  constraint settings_count_from_one check (number > 0)
);

-- Further unique keys of a stream: idempotency keys with an end, burn rounds without.
create table ledger.keys (
  space smallint not null,
  key bytea not null,
  id bytea not null,
  digest bytea,
  until timestamptz,
  constraint keys_used_once primary key (space, key)
);
create index keys_by_end on ledger.keys (until) where until is not null;

-- Answers that are stored until they were sent, and a short time longer (docs/decisions/0021). Not part of the ledger.
create table ledger.notes (
  id bytea not null,
  note bytea not null,
  recorded_at timestamptz not null,
  -- The note of an append that brought a key stays for a day; any other is deleted soon after it was sent.
  is_keyed boolean not null,
  -- Null until the process that sent the answer reported it.
  sent_at timestamptz,
  constraint notes_one_row_per_stream primary key (id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
alter table ledger.notes alter column note set storage external;
create index notes_by_time on ledger.notes (recorded_at);
create index notes_by_sending on ledger.notes (sent_at) where not is_keyed and sent_at is not null;

-- Positions that an instance has seen and that this database no longer has. One instance that reports a loss closes all
-- instances that run at that moment (docs/decisions/0020).
create table ledger.lost_history (
  number bigint generated always as identity,
  seq bigint not null,
  leaf_hash bytea not null,
  reporter text not null,
  reported_at timestamptz not null,
  constraint lost_history_one_row_each primary key (number),
  constraint lost_history_is_of_an_event check (seq > 0 and octet_length(leaf_hash) = 32)
);

-- One call of the append (packages/ledger/sql/append.sql). Columns of several tables, as arrays, because reading them out of
-- one JSON document took three times as long. *_items and *_events point into the items and events from 1; debits and
-- credits into the names of accounts. An item's events follow each other, and so do an event's postings; *_starts count
-- from 0. The bytes of bodies and notes are apart, because a row is copied at each call.
create type ledger.batch as (
  ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[],
  event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[],
  event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[],
  account_mints text[], account_names text[],
  posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[],
  guard_items integer[], guard_ids bytea[], guard_versions integer[],
  key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[],
  note_items integer[]
);

-- The accounts of a batch, in the order of its names.
create type ledger.batch_accounts as (
  ids integer[], classes text[], hourly boolean[], balances numeric[], floors numeric[], ceilings numeric[]
);

-- By item: why it is refused (null: taken), and what it would make of its stream.
create type ledger.judgement as (
  verdicts text[],
  kinds text[],
  to_states text[],
  -- Position of the stream's first event; null for a new stream.
  streams bigint[],
  has_settings boolean
);

-- For people with psql. Each row reads one event; filter by a range of `stream`.
create view ledger.payments as
  select first.said ->> 'stream' as reference, s.state, s.version, s.lease_until,
    coalesce(first.said ->> 'wallet', first.said #>> '{settlement,wallet}') as wallet,
    coalesce(first.said ->> 'endpoint', first.said #>> '{settlement,price,endpoint}') as endpoint,
    coalesce(first.said ->> 'mint', first.said #>> '{settlement,price,mint}') as mint,
    first.said #>> '{settlement,price,requiredBaseUnits}' as required,
    first.recorded_at as created_at, s.stream, s.id
  from ledger.streams s
  cross join lateral (
    select convert_from(e.body, 'UTF8')::jsonb as said, e.recorded_at from ledger.events e where e.seq = s.stream offset 0
  ) first
  where s.kind = 'payment';

select ledger.protect_log(protected)
from unnest(array['ledger.events', 'ledger.settings', 'ledger.lost_history']::regclass[]) as protected;

select ledger.protect_projection(protected)
from unnest(array['ledger.head', 'ledger.streams', 'ledger.accounts', 'ledger.tallies']::regclass[]) as protected;

select ledger.protect_kept(protected)
from unnest(array['ledger.keys', 'ledger.notes']::regclass[]) as protected;

grant select on
  ledger.kinds, ledger.steps, ledger.classes, ledger.code, ledger.head, ledger.events, ledger.streams, ledger.accounts,
  ledger.entries, ledger.tallies, ledger.settings, ledger.keys, ledger.lost_history, ledger.payments
  to tollbook_service, tollbook_reader;
grant select on ledger.notes to tollbook_service;
grant select on ledger.code, ledger.head, ledger.accounts, ledger.streams, ledger.events, ledger.settings
  to tollbook_payout, tollbook_burner, tollbook_operator;
-- A plan of payouts leaves out debts to wallets with a payment that the chain could still drop.
grant select on ledger.payments to tollbook_payout;
grant select on ledger.code to tollbook_signer;
