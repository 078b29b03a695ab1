-- The oldest notes beyond a number and a sum of bytes, those that were sent first. A note that is deleted before it was sent cannot be
-- sent again, so the bounds are for a flood of payers who do not read their answers.
create or replace function ledger.forget_notes_beyond(notes_max bigint, bytes_max bigint) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten bigint;
begin
  delete from ledger.notes n
  using (
    select r.id from (
      select k.id, row_number() over newest as number, sum(octet_length(k.note)) over newest as bytes
      from ledger.notes k
      window newest as (order by k.sent_at is null desc, k.recorded_at desc, k.id rows unbounded preceding)
    ) r
    where r.number > notes_max or r.bytes > bytes_max
  ) old
  where n.id = old.id;
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;

-- Deletes notes a day old, the oldest notes beyond a million or a gigabyte, and keys that have ended, up to 100,000 of each
-- age: a backlog of a day without housekeeping must not exceed the time of a statement. Returns the number of rows deleted by
-- age; at 100,000 or more there may be others. None of them is part of the ledger.
create or replace function ledger.forget_old_notes() returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  notes_max constant bigint := 1000000;
  bytes_max constant bigint := 1024 * 1024 * 1024;
  rows_max constant bigint := 100000;
  notes bigint;
  keys bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  delete from ledger.notes n
  using (
    select k.id from ledger.notes k where k.recorded_at <= now() - interval '24 hours' order by k.recorded_at limit rows_max
  ) old
  where n.id = old.id;
  get diagnostics notes = row_count;
  perform ledger.forget_notes_beyond(notes_max, bytes_max);
  delete from ledger.keys k
  using (select e.space, e.key from ledger.keys e where e.until <= now() order by e.until limit rows_max) ended
  where k.space = ended.space and k.key = ended.key;
  get diagnostics keys = row_count;
  perform set_config('ledger.writing', 'off', true);
  return greatest(notes, keys);
end
$$;
grant execute on function ledger.forget_old_notes to tollbook_service;
