-- Why: a ledger that goes backwards must be noticed by every instance, elected work must survive a paused leader, and a
-- database clock that jumps must not freeze leases (docs/decisions/0020).

-- Positions that an instance has seen and that this database no longer has. One instance that reports a loss closes all
-- instances that run at that moment.
create table ledger.lost_history (
  number bigint generated always as identity,
  seq bigint not null,
  leaf_hash bytea not null,
  reporter text not null,
  reported_at timestamptz not null,
  constraint lost_history_one_row_each primary key (number),
  constraint lost_history_is_of_an_event check (seq > 0 and octet_length(leaf_hash) = 32)
);
select ledger.protect_log('ledger.lost_history');
grant select on ledger.lost_history to tollbook_service, tollbook_reader;

-- Clock of the database at the last append. The time of the ledger goes on from here when the clock goes back.
alter table ledger.head add column clock_at timestamptz not null default 'epoch';
-- Leaf hash of the newest event, so that an instance that has seen it compares without opening a partition.
alter table ledger.head add column leaf_hash bytea;

-- Leases of elected work. The epoch rises each time a lease is taken; writes of the work carry it.
create table work.leases (
  name text not null,
  holder text not null,
  epoch bigint not null,
  taken_at timestamptz not null,
  length_ms integer not null,
  constraint leases_one_row_each primary key (name),
  constraint leases_have_a_length check (length_ms between 0 and 600000)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
grant select on work.leases to tollbook_service;
