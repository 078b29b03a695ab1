-- Adds one instance's new requests of its busiest clients and returns what all instances have counted. Windows that have
-- ended are deleted, a thousand rows at most, so that no call is slow.
create or replace function work.share_rates(
  limit_names text[], clients text[], time_windows bigint[], more bigint[], ends_ms bigint[])
returns table (limit_name text, client text, time_window bigint, requests bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from work.rate_counts
  where ctid = any (array(
    select c.ctid from work.rate_counts c where c.ends_at <= now() order by c.ends_at limit 1000 for update skip locked));
  -- In one order, so that two instances never wait for each other.
  return query
    insert into work.rate_counts as known (limit_name, client, time_window, requests, ends_at)
    select g.limit_name, g.client, g.time_window, g.more, timestamptz 'epoch' + g.ends_ms * interval '1 millisecond'
    from unnest(limit_names, clients, time_windows, more, ends_ms) as g (limit_name, client, time_window, more, ends_ms)
    order by 1, 2, 3
    on conflict (limit_name, client, time_window) do update set requests = known.requests + excluded.requests
    returning known.limit_name, known.client, known.time_window, known.requests;
end
$$;
grant execute on function work.share_rates to tollbook_service;
