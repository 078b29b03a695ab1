-- Which ledger this is: what a process compares with the newest event that it has seen. SECURITY DEFINER, because some
-- installations revoke the functions that read the control file. A standby reports no timeline.
create or replace function ledger.identify(
  known_seq bigint,
  out system_identifier text, out timeline integer, out head_seq bigint, out head_leaf bytea, out known_leaf bytea,
  out lost_number bigint, out lost_seq bigint, out lost_leaf bytea)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
-- Positions are constants of the plan, so that only their partitions are opened and locked.
set plan_cache_mode = force_custom_plan
as $$
begin
  select c.system_identifier::text into strict system_identifier from pg_catalog.pg_control_system() c;
  -- The control file has the timeline of the last checkpoint, which is the old one for minutes after a promotion.
  if not pg_catalog.pg_is_in_recovery() then
    timeline := ('x' || left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::integer;
  end if;
  select h.seq into strict head_seq from ledger.head h where h.one;
  select e.leaf_hash into head_leaf from ledger.events e where e.seq = head_seq;
  select e.leaf_hash into known_leaf from ledger.events e where e.seq = known_seq;
  select l.number, l.seq, l.leaf_hash into lost_number, lost_seq, lost_leaf
    from ledger.lost_history l order by l.number desc limit 1;
end
$$;
grant execute on function ledger.identify to tollbook_service;

-- The position is a constant of the plan, so that only its partition is opened and locked.
create or replace function ledger.has_event(wanted_seq bigint, wanted_leaf bytea) returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_custom_plan
as $$
begin
  return exists (select from ledger.events e where e.seq = wanted_seq and e.leaf_hash = wanted_leaf);
end
$$;

-- Called by the append, so that the append and this comparison are one statement on one server. Raises when the event that
-- the caller has seen is not in this ledger, or the server has been promoted since; otherwise true. 0: not known.
create or replace function ledger.require_history(known_seq bigint, known_leaf bytea, known_timeline integer) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if known_timeline > 0
    and pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8)
      <> pg_catalog.upper(pg_catalog.lpad(pg_catalog.to_hex(known_timeline), 8, '0')) then
    raise exception 'the database was promoted or replaced' using errcode = 'TB001';
  end if;
  -- The head has the leaf of the newest event: no partition is opened while no other instance appends.
  if known_seq > 0
    and not exists (select from ledger.head h where h.one and h.seq = known_seq and h.leaf_hash = known_leaf)
    and not ledger.has_event(known_seq, known_leaf) then
    raise exception 'event % is not the one that the caller has seen', known_seq using errcode = 'TB001';
  end if;
  return true;
end
$$;

create or replace function ledger.report_lost_history(lost_seq bigint, lost_leaf bytea, reporter text) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A report about an event that is here is a mistake of the reporter, and closes nothing.
  if ledger.has_event(lost_seq, lost_leaf) then
    return;
  end if;
  perform set_config('ledger.writing', 'on', true);
  insert into ledger.lost_history (seq, leaf_hash, reporter, reported_at)
  values (lost_seq, lost_leaf, left(report_lost_history.reporter, 200), clock_timestamp());
  perform set_config('ledger.writing', 'off', true);
end
$$;
grant execute on function ledger.report_lost_history to tollbook_service;

-- Takes the lock of the head and commits: fails or waits exactly when an append would. With a synchronous standby it
-- waits for that one too, because a row lock is written to the log.
create or replace function ledger.probe_commit() returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
begin
  perform from ledger.head h where h.one for update;
end
$$;
grant execute on function ledger.probe_commit to tollbook_service;
