-- The time at which the month of an effective time is closed: a day after its end, in UTC.
create or replace function reports.month_closed_at(effective_at timestamptz) returns timestamptz
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select (date_trunc('month', effective_at at time zone 'UTC') + interval '1 month 1 day') at time zone 'UTC'
$$;

revoke execute on function reports.month_closed_at from public;
-- The views of this schema call it with the rights of their reader.
grant execute on function reports.month_closed_at to tollbook_service, tollbook_reader;
