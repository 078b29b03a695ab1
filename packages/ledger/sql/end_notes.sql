-- Marks notes as sent: a note that no key refers to is deleted, any other keeps its day. Notes are not part of the ledger.
create or replace function ledger.end_notes(ids bytea[]) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  deleted bigint;
  marked bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  delete from ledger.notes n where n.id = any(ids) and not n.is_keyed;
  get diagnostics deleted = row_count;
  update ledger.notes n set sent_at = now() where n.id = any(ids) and n.is_keyed and n.sent_at is null;
  get diagnostics marked = row_count;
  perform set_config('ledger.writing', 'off', true);
  return deleted + marked;
end
$$;
grant execute on function ledger.end_notes to tollbook_service;
