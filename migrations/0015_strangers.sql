-- Why: anyone may ask for a quote, so old ones are dropped with their day by a role that can do nothing else, and limits
-- are counted over all instances (docs/decisions/0028 and 0029).
do $$
begin
  create role tollbook_retention nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;
grant usage on schema ledger to tollbook_retention;

-- Quotes of dropped days that a payment still needs. A partition whose upper bound moves up with the dropped days.
create table ledger.quotes_kept (like ledger.quotes including all);
select ledger.protect_log('ledger.quotes_kept');
alter table ledger.quotes attach partition ledger.quotes_kept for values from (minvalue) to ('2000-01-01 00:00:00+00');

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
grant select on work.rate_counts to tollbook_service;
