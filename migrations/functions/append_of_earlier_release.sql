-- The entry point of releases up to 0028. They would end a payment whose burn is owed with its delivery wrongly: fulfil it without
-- the burn, or owe back its price without it. Each of their steps for such a payment is refused as a conflict, which keeps the proof:
-- no stream has version -1. An instance of this release takes the step. The next release may drop this function.
create or replace function ledger.append(
  ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[],
  event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[],
  event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[],
  account_mints text[], account_names text[],
  posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[],
  guard_items integer[], guard_ids bytea[], guard_versions integer[],
  key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[],
  note_items integer[], note_values bytea[],
  bodies bytea, lane_epoch integer,
  out recorded_at timestamptz, out first_position bigint, out refusals text[], out leaf_hashes bytea)
language plpgsql
security definer
set search_path = ''
as $$
declare
  versions integer[];
  appended record;
begin
  select coalesce(array_agg(case when owes.burn then -1 else item.expected end order by item.n), '{}') into versions
    from unnest(ids, expected) with ordinality as item (id, expected, n)
    cross join lateral (
      -- Verified, and neither burned inside nor owed.
      select coalesce(bool_or(e.kind = 'PaymentVerified') and not bool_or(e.kind in ('TokensBurned', 'BurnOwed')), false) as burn
      from ledger.read(case when item.expected > 0 then item.id end) e
    ) owes;
  appended := ledger.append_batch(ids, steps, versions, leases_ms, event_counts, first_events,
    event_items, event_kinds, event_schemas, event_times_ms, event_starts, event_lengths, posting_starts, posting_counts,
    account_mints, account_names, posting_items, posting_events, debits, credits, amounts,
    guard_items, guard_ids, guard_versions, key_items, key_spaces, key_values, key_digests, key_lives_s,
    note_items, note_values, bodies, lane_epoch);
  recorded_at := appended.recorded_at;
  first_position := appended.first_position;
  refusals := appended.refusals;
  leaf_hashes := appended.leaf_hashes;
end
$$;
grant execute on function ledger.append to tollbook_service;
