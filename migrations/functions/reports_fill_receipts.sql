-- Fills in the receipts of the next deliveries that an older release rolled up, those of that many events at most.
create or replace function reports.fill_receipts(events_max integer) returns void
language plpgsql
set search_path = ''
as $$
declare
  missing int8range;
  filled int8range;
begin
  select p.receipts_missing into strict missing from reports.progress p where p.one;
  if isempty(missing) then
    return;
  end if;
  filled := missing * int8range(lower(missing), lower(missing) + events_max);
  update reports.payments p set receipt = substr(e.leaf_hash, 1, 16)
  from ledger.events e
  where e.seq >= lower(filled) and e.seq < upper(filled) and e.kind = 'RequestFulfilled' and p.stream = e.stream and p.receipt is null;
  update reports.progress set receipts_missing = missing - filled where one;
end
$$;

revoke execute on function reports.fill_receipts from public;
