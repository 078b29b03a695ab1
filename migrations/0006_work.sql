-- Why: jobs need the few streams with open work, and an index for them on ledger.streams would make every claim's
-- update
-- write all indexes. The list follows the log by position, outside the append. A stale row is harmless, because each
-- decision is appended on a version; if the follower stops, jobs are late and never wrong.

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

grant select on work.rules, work.open, work.progress to tollbook_service;
