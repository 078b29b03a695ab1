-- A partition is created as a separate table and then attached, which does not block readers or writers of the parent.
create or replace function ledger.add_partition(parent regclass, name text, bounds text[]) returns void
language plpgsql
as $$
begin
  if to_regclass('ledger.' || quote_ident(name)) is not null then
    return;
  end if;
  execute format('create table ledger.%I (like %s including all)', name, parent);
  perform ledger.protect_log(('ledger.' || quote_ident(name))::regclass);
  execute format('alter table %s attach partition ledger.%I for values from (%L) to (%L)', parent, name, bounds[1], bounds[2]);
end
$$;

-- Ten million positions a partition. Keeps two beyond the head's, and quotes for a week ahead. Safe to call at any time
-- from any instance.
create or replace function ledger.add_partitions() returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  positions_each constant bigint := 10000000;
  first bigint;
  day date;
begin
  perform pg_advisory_xact_lock(hashtext('ledger.add_partitions'));
  select h.seq / positions_each into first from ledger.head h;
  for part in first .. first + 2 loop
    perform ledger.add_partition('ledger.events', 'events_' || part,
      array[(part * positions_each)::text, ((part + 1) * positions_each)::text]);
  end loop;
  for ahead in -1 .. 7 loop
    day := (now() at time zone 'UTC')::date + ahead;
    perform ledger.add_partition('ledger.quotes', 'quotes_' || to_char(day, 'YYYYMMDD'),
      array[day::text || ' 00:00:00+00', (day + 1)::text || ' 00:00:00+00']);
  end loop;
end
$$;
grant execute on function ledger.add_partitions to tollbook_service;

select ledger.add_partitions();
