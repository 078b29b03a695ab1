-- Brings work.open up to date with the next events, `events_max` at most, and returns their number. One session at a time;
-- another returns 0 at once. A stream's state may be newer than the events read here; it is then read again later.
create or replace function work.follow(events_max integer) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
-- The range is a constant of each plan, so that only its partitions are read.
set plan_cache_mode = force_custom_plan
as $$
declare
  from_seq bigint;
  to_seq bigint;
begin
  select p.upto_seq into from_seq from work.progress p where p.one for update skip locked;
  if not found then
    return 0;
  end if;
  -- Positions are given under one lock that is held to the commit: up to the head none is missing and none will come.
  select least(h.seq, from_seq + events_max) into strict to_seq from ledger.head h where h.one;
  if to_seq <= from_seq then
    return 0;
  end if;
  with touched as materialized (
    select e.stream, min(e.recorded_at) as first_at, min(e.version) as first_version
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq
    group by e.stream
  ),
  wanted as materialized (
    select r.queue, s.stream, s.id,
      case r.due
        when 'lease' then s.lease_until
        else case when t.first_version = 1 then t.first_at
          else (select e.recorded_at from ledger.events e where e.seq = s.stream) end
      end as due_at
    from touched t
    join ledger.streams s on s.stream = t.stream
    join work.rules r on r.kind = s.kind and r.state = s.state
  ),
  closed as (
    delete from work.open o
    using touched t
    where o.stream = t.stream
      and not exists (select from wanted w where w.queue = o.queue and w.stream = o.stream)
  )
  insert into work.open as known (queue, stream, id, due_at)
  select w.queue, w.stream, w.id, w.due_at from wanted w
  on conflict (queue, stream) do update set due_at = excluded.due_at
  where known.due_at <> excluded.due_at;
  update work.progress set upto_seq = to_seq where one;
  return to_seq - from_seq;
end
$$;
grant execute on function work.follow to tollbook_service;
