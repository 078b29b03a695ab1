-- Forward only: a late instance does not move the search back.
create or replace function paywall.move_transfer_scan(token_account text, signature text, slot bigint) returns void
language sql
security definer
set search_path = ''
as $$
  insert into paywall.transfer_scans as known (token_account, signature, slot, scanned_at)
  values (token_account, signature, slot, clock_timestamp())
  on conflict (token_account) do update set
    signature = excluded.signature, slot = excluded.slot, scanned_at = excluded.scanned_at
  where excluded.slot >= known.slot
$$;
grant execute on function paywall.move_transfer_scan to tollbook_service;

-- The same for the holder of a lease: a search that was paused and replaced moves nothing.
create or replace function paywall.move_transfer_scan_under_lease(
  lease_name text, lease_epoch bigint, token_account text, signature text, slot bigint) returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform work.require_lease(lease_name, lease_epoch);
  perform paywall.move_transfer_scan(token_account, signature, slot);
end
$$;
grant execute on function paywall.move_transfer_scan_under_lease to tollbook_service;
