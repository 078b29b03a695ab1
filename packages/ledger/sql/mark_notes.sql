-- Marks notes as sent that may be sent again for a time, and deletes those that were sent that long ago. A note that a key refers to keeps
-- its day. Notes are not part of the ledger.
create or replace function ledger.mark_notes(ids bytea[], repeat_seconds integer) returns bigint
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  deleted_max constant bigint := 10000;
  marked bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  update ledger.notes n set sent_at = now() where n.id = any(ids) and n.sent_at is null;
  get diagnostics marked = row_count;
  delete from ledger.notes n
  using (
    select k.id from ledger.notes k
    where not k.is_keyed and k.sent_at <= now() - make_interval(secs => repeat_seconds)
    order by k.sent_at limit deleted_max for update skip locked
  ) ended
  where n.id = ended.id;
  perform set_config('ledger.writing', 'off', true);
  return marked;
end
$$;
grant execute on function ledger.mark_notes to tollbook_service;
