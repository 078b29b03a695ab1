-- Forward only: a late instance does not move the search back. With a lease, a search that was paused and replaced moves
-- nothing.
create or replace function paywall.move_transfer_scan(
  lease_name text, lease_epoch bigint, token_account text, signature text, slot bigint) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if lease_name is not null then
    perform work.require_lease(lease_name, lease_epoch);
  end if;
  insert into paywall.transfer_scans as known (token_account, signature, slot, scanned_at)
  values (move_transfer_scan.token_account, move_transfer_scan.signature, move_transfer_scan.slot, clock_timestamp())
  on conflict on constraint transfer_scans_one_per_token_account do update set
    signature = excluded.signature, slot = excluded.slot, scanned_at = excluded.scanned_at
  where excluded.slot >= known.slot;
end
$$;
grant execute on function paywall.move_transfer_scan to tollbook_service;
