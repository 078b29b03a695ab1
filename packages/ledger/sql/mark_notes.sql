-- Marks notes as sent that may be sent again for a time, and deletes those that were sent that long ago. A note that a key refers to keeps
-- its day. Notes are not part of the ledger.
create or replace function ledger.mark_notes(ids bytea[], repeat_seconds integer) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  batches_max constant integer := 100;
  marked bigint;
  sent bytea[];
begin
  perform set_config('ledger.writing', 'on', true);
  with marking as (
    update ledger.notes n set sent_at = now() where n.id = any(ids) and n.sent_at is null
    returning n.id, n.is_keyed
  )
  select count(*), array_agg(m.id) filter (where not m.is_keyed) into marked, sent from marking m;
  if sent is not null then
    insert into ledger.sent_notes (sent_at, ids) values (now(), sent);
  end if;
  with ended as (
    delete from ledger.sent_notes s
    using (
      select k.sent_at, k.number from ledger.sent_notes k
      where k.sent_at <= now() - make_interval(secs => repeat_seconds)
      order by k.sent_at limit batches_max for update skip locked
    ) old
    where s.sent_at = old.sent_at and s.number = old.number
    returning s.ids
  )
  delete from ledger.notes n where n.id in (select unnest(e.ids) from ended e);
  perform set_config('ledger.writing', 'off', true);
  return marked;
end
$$;
grant execute on function ledger.mark_notes to tollbook_service;
