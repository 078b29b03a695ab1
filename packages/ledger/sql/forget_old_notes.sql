-- Deletes notes a day old, the oldest notes beyond a gigabyte or a million, and keys that have ended. None of them is part
-- of the ledger.
create or replace function ledger.forget_old_notes() returns bigint
language plpgsql
security definer
set search_path = ''
as $$
declare
  notes_max constant bigint := 1000000;
  bytes_max constant bigint := 1024 * 1024 * 1024;
  forgotten bigint;
  beyond bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  delete from ledger.notes where recorded_at <= now() - interval '24 hours';
  get diagnostics forgotten = row_count;
  delete from ledger.notes n
  using (
    select r.id from (
      select k.id, row_number() over newest as number, sum(octet_length(k.note)) over newest as bytes
      from ledger.notes k
      window newest as (order by k.recorded_at desc, k.id rows unbounded preceding)
    ) r
    where r.number > notes_max or r.bytes > bytes_max
  ) old
  where n.id = old.id;
  get diagnostics beyond = row_count;
  delete from ledger.keys where until <= now();
  perform set_config('ledger.writing', 'off', true);
  return forgotten + beyond;
end
$$;
grant execute on function ledger.forget_old_notes to tollbook_service;
