-- Deletes notes a day old and keys that have ended. Neither is part of the ledger.
create or replace function ledger.forget_old_notes() returns bigint
language plpgsql
security definer
set search_path = ''
as $$
declare
  forgotten bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  delete from ledger.notes where recorded_at <= now() - interval '24 hours';
  get diagnostics forgotten = row_count;
  delete from ledger.keys where until <= now();
  perform set_config('ledger.writing', 'off', true);
  return forgotten;
end
$$;
grant execute on function ledger.forget_old_notes to tollbook_service;
