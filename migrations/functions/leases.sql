-- Takes a lease of elected work if it is free. Returns its epoch, which rises each time, or null. A lease whose start lies in
-- the future was taken before the clock of the database went back. It has ended, so that no jump of the clock keeps work
-- waiting for longer than one lease.
create or replace function work.take_lease(lease_name text, wanted_by text, for_ms integer) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  taken bigint;
begin
  -- The clock is read once the row is locked: a caller that waited for it would see a fresh lease in its future.
  insert into work.leases as known (name, holder, epoch, taken_at, length_ms)
  values (lease_name, wanted_by, 1, clock_timestamp(), for_ms)
  on conflict (name) do update set
    holder = excluded.holder, taken_at = clock_timestamp(), length_ms = excluded.length_ms, epoch = known.epoch + 1
  where known.taken_at > clock_timestamp() + interval '1 second'
    or known.taken_at + known.length_ms * interval '1 millisecond' <= clock_timestamp()
  returning known.epoch into taken;
  return taken;
end
$$;
grant execute on function work.take_lease to tollbook_service;

-- False when another holder has taken the lease, or it was ended.
create or replace function work.renew_lease(lease_name text, lease_epoch bigint) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update work.leases set taken_at = clock_timestamp() where name = lease_name and epoch = lease_epoch and length_ms > 0;
  return found;
end
$$;
grant execute on function work.renew_lease to tollbook_service;

-- Ends a lease early. A holder that has been replaced ends nothing.
create or replace function work.end_lease(lease_name text, lease_epoch bigint) returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update work.leases set length_ms = 0 where name = lease_name and epoch = lease_epoch and length_ms > 0
$$;
grant execute on function work.end_lease to tollbook_service;

-- For the writes of elected work: raises unless the epoch is the newest of its lease. The row stays locked to the end of
-- the database transaction, so no other instance takes the lease between this check and the write.
create or replace function work.require_lease(lease_name text, lease_epoch bigint) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from work.leases l where l.name = lease_name and l.epoch = lease_epoch for update;
  if not found then
    raise exception 'another instance has taken the lease %', lease_name using errcode = 'TB002';
  end if;
end
$$;
