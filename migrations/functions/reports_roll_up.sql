-- Rolls up the next events, at most that many, and returns how many. Returns 0 at once while another session rolls up.
create or replace function reports.roll_up(events_max integer) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- With these settings only one shape of plan is left, which suits any size of range and table.
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
  from_seq bigint;
  to_seq bigint;
begin
  select p.upto_seq into from_seq from reports.progress p where p.one for update skip locked;
  if not found then
    return 0;
  end if;
  -- Positions are assigned under one lock that is held to the commit: no position up to the head is missing or comes later.
  select least(h.seq, from_seq + events_max) into strict to_seq from ledger.head h where h.one;
  if to_seq <= from_seq then
    return 0;
  end if;
  -- To plan takes 3 ms, as long as 100 events: small ranges share one plan of the session. A large one has its own, because
  -- a plan that was made when a table was empty may read a whole index of it.
  if to_seq - from_seq < 1000 then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;
  perform reports.add_events(from_seq, to_seq);
  perform reports.list_payouts(from_seq, to_seq);
  perform reports.list_refunds(from_seq, to_seq);
  update reports.progress set upto_seq = to_seq where one;
  return to_seq - from_seq;
end
$$;

revoke execute on function reports.roll_up from public;
grant execute on function reports.roll_up to tollbook_service, tollbook_finance;

-- The same, but waits while another session rolls up: for callers who decide on the result.
create or replace function reports.roll_up_in_turn(events_max integer) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from reports.progress p where p.one for update;
  return reports.roll_up(events_max);
end
$$;

revoke execute on function reports.roll_up_in_turn from public;
grant execute on function reports.roll_up_in_turn to tollbook_service, tollbook_finance;
