-- Drops whole days of quotes that are older than the retention, and returns their names. Three days is the least: a payment
-- is found by a quote of at most 24 hours before it landed, lands at most 12 hours before its first presentation
-- (the maximum age of a proof), and a presentation is remembered for 24 hours, which makes 60.
--
-- Only a payment that this service has sent may be verified later than that. Its quote is moved to ledger.quotes_kept.
create or replace function ledger.drop_old_quotes(retention_days integer) returns setof text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- Quotes that are recorded meanwhile wait for this lock, and those after them.
set lock_timeout = '500ms'
as $$
declare
  today constant date := (now() at time zone 'UTC')::date;
  day date;
  partition regclass;
begin
  if retention_days is null or retention_days < 3 then
    raise exception 'quotes are kept for at least 3 days, not %', retention_days using errcode = 'invalid_parameter_value';
  end if;
  if work.is_behind() then
    raise notice 'work.open is a day behind the ledger, so no quotes are dropped';
    return;
  end if;
  for day, partition in select d.day, d.partition from ledger.quote_days() d where d.day < today - retention_days order by d.day loop
    lock table ledger.quotes in access exclusive mode;
    alter table ledger.quotes detach partition ledger.quotes_kept;
    perform set_config('ledger.writing', 'on', true);
    execute format('insert into ledger.quotes_kept select q.* from %s q where q.id in (select ledger.needed_quotes())', partition);
    perform set_config('ledger.writing', 'off', true);
    execute format('drop table %s', partition);
    execute format('alter table ledger.quotes attach partition ledger.quotes_kept for values from (minvalue) to (%L)',
      (day + 1)::text || ' 00:00:00+00');
    return next partition::text;
  end loop;
end
$$;
grant execute on function ledger.drop_old_quotes to tollbook_retention;

-- Ids of the quotes of payments that were sent and are not verified.
create or replace function ledger.needed_quotes() returns setof text
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select convert_from(e.body, 'UTF8')::jsonb ->> 'quoteId'
  from work.open o
  join ledger.events e on e.seq = o.stream
  where o.queue = 'submitted'
$$;

-- True when the list of open work lacks events of yesterday and before.
create or replace function work.is_behind() returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (select e.recorded_at < now() - interval '1 day' from ledger.events e
     where e.seq = (select p.upto_seq + 1 from work.progress p where p.one)),
    false)
$$;

-- The partitions of whole days.
create or replace function ledger.quote_days() returns table (day date, partition regclass)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select to_date(right(c.relname, 8), 'YYYYMMDD'), c.oid::regclass
  from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'ledger.quotes'::regclass and c.relname ~ '^quotes_\d{8}$'
$$;

-- Bytes of all quotes with their indexes, and the age in days of the oldest day with quotes. The metrics show both.
create or replace function ledger.quote_storage() returns table (bytes bigint, oldest_days integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select (select sum(pg_catalog.pg_total_relation_size(t.relid))::bigint from pg_catalog.pg_partition_tree('ledger.quotes') t),
    (select coalesce(max((now() at time zone 'UTC')::date - d.day), 0) from ledger.quote_days() d
     where pg_catalog.pg_relation_size(d.partition) > 0)
$$;
grant execute on function ledger.quote_storage to tollbook_service;
