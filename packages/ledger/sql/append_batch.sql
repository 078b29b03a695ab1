-- The service's entry point. Steps of other writers are refused here; they have separate functions and grants. Arguments
-- are the columns of ledger.batch, by name, so that a later release can add one with a default. The last three are the
-- history that the caller has seen (ledger.require_history): on another one nothing is appended.
create or replace function ledger.append_batch(
  ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[],
  event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[],
  event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[],
  account_mints text[], account_names text[],
  posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[],
  guard_items integer[], guard_ids bytea[], guard_versions integer[],
  key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[],
  note_items integer[], note_values bytea[],
  bodies bytea, known_seq bigint default 0, known_leaf bytea default null, known_timeline integer default 0,
  out recorded_at timestamptz, out first_position bigint, out refusals text[], out leaf_hashes bytea)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Assignments and not queries: plpgsql evaluates them without a separate plan.
  is_continued constant boolean := ledger.require_history(known_seq, known_leaf, known_timeline);
  appended record;
begin
  appended := ledger.append_as('service', row(ids, steps, expected, leases_ms, event_counts, first_events,
    event_items, event_kinds, event_schemas, event_times_ms, event_starts, event_lengths, posting_starts, posting_counts,
    account_mints, account_names, posting_items, posting_events, debits, credits, amounts,
    guard_items, guard_ids, guard_versions, key_items, key_spaces, key_values, key_digests, key_lives_s,
    note_items)::ledger.batch, bodies, note_values);
  recorded_at := appended.recorded_at;
  first_position := appended.first_position;
  refusals := appended.refusals;
  leaf_hashes := appended.leaf_hashes;
end
$$;
grant execute on function ledger.append_batch to tollbook_service;
