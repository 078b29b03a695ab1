-- Why: jobs need the few streams with open work, and an index for them on ledger.streams would make every claim's
-- update write all indexes. The list follows the log by position, outside the append. A stale row is harmless, because
-- each decision is appended on a version; if the follower stops, jobs are late and never wrong. The other tables of this
-- file are notes of the service that the ledger can do without.

-- A stream of this kind in this state is in the queue. Written by migrations/kinds/*.sql alone.
create table work.rules (
  kind text not null,
  state text not null,
  queue text not null,
  -- 'created': due from the first event on. 'lease': due when the lease ends.
  due text not null default 'created',
  constraint rules_one_row_each primary key (kind, state, queue),
  constraint rules_have_a_kind foreign key (kind) references ledger.kinds (kind),
  constraint rules_due_is_known check (due in ('created', 'lease'))
);

create table work.open (
  queue text not null,
  stream bigint not null,
  id bytea not null,
  due_at timestamptz not null,
  constraint open_one_row_each primary key (queue, stream)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index open_by_time on work.open (queue, due_at, stream);

create table work.progress (
  one boolean not null default true,
  upto_seq bigint not null,
  constraint progress_is_one_row primary key (one),
  constraint progress_is_the_one check (one)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into work.progress (upto_seq) values (0);

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

-- A payment that was presented in time must not become too old during an outage, so its first presentation is on record.
-- Rows expire after a day, and the table never has more rows than the function allows.
create table work.presentations (
  reference bytea not null,
  wallet text not null,
  -- Time of the chain, which no clock of ours can put wrong.
  presented_at timestamptz not null,
  -- The transaction cannot land in a block above this height.
  last_valid_height bigint not null,
  -- Counts up, so that the oldest rows are found without a search.
  number bigint generated always as identity,
  recorded_at timestamptz not null default clock_timestamp(),
  constraint presentations_one_row_each primary key (reference, wallet),
  constraint presentations_reference_is_short check (octet_length(reference) between 2 and 65),
  constraint presentations_wallet_is_an_address check (length(wallet) between 32 and 44),
  constraint presentations_height_is_positive check (last_valid_height > 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index presentations_by_number on work.presentations (number);

-- Requests counted by all instances, by limit, client and time window. Lost in a crash, which forgives a minute.
create unlogged table work.rate_counts (
  limit_name text not null,
  client text not null,
  time_window bigint not null,
  requests bigint not null,
  ends_at timestamptz not null,
  constraint rate_counts_one_row_each primary key (limit_name, client, time_window)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index rate_counts_by_end on work.rate_counts (ends_at);

-- Position up to which the payment wallet's token account has been searched for transfers that no payment explains. From
-- an older place the search finds the same.
create table paywall.transfer_scans (
  token_account text not null,
  signature text not null,
  slot bigint not null,
  scanned_at timestamptz not null,
  constraint transfer_scans_one_per_token_account primary key (token_account)
);

-- The last transaction that was signed for each part of a plan of payouts, recorded before it is sent, so that no kill and
-- no second machine sends a part twice (docs/decisions/0045). One that has landed becomes a DistributionPaid; one that
-- never can is replaced by the next.
create table work.payout_attempts (
  plan_id text not null,
  part integer not null,
  signature text not null,
  -- The transaction cannot land in a block above this height.
  last_valid_height bigint not null,
  transaction bytea not null,
  attempted_at timestamptz not null default clock_timestamp(),
  constraint payout_attempts_one_for_each_part primary key (plan_id, part),
  constraint payout_attempts_count_parts check (part > 0),
  constraint payout_attempts_height_is_positive check (last_valid_height > 0),
  constraint payout_attempts_fit_a_transaction check (octet_length(transaction) between 1 and 1232)
);

grant select on work.rules, work.leases, work.rate_counts, paywall.transfer_scans to tollbook_service;
grant select on work.presentations to tollbook_service, tollbook_reader;
-- Readers, payouts and burns read which payments are final.
grant select on work.open, work.progress to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner;
grant select on work.payout_attempts to tollbook_payout;
