-- Writes the events of the accepted items at the next positions, with their leaf hashes, and what follows from them:
-- streams, the head, keys, notes and settings. Returns the leaf hashes, one after the other.
create or replace function ledger.record(
  batch ledger.batch, bodies bytea, note_values bytea[], judged ledger.judgement, account_ids integer[],
  first_position bigint, stamp timestamptz, clock timestamptz)
returns bytea
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- Local arrays, whose elements are found at once; in a row, nulls are counted before each.
  verdicts constant text[] := judged.verdicts;
  streams constant bigint[] := judged.streams;
  stamp_bytes constant bytea := int8send((extract(epoch from stamp) * 1000)::bigint);
  firsts bigint[];     -- by item: position of its first event; null: refused
  next_position bigint := first_position;
  debit_ids integer[]; credit_ids integer[];
  leaf_hashes bytea;
begin
  -- Positions: gapless, in the order of the items.
  for i in 1 .. cardinality(batch.ids) loop
    if verdicts[i] is null then
      firsts[i] := next_position;
      next_position := next_position + batch.event_counts[i];
    else
      firsts[i] := null;
    end if;
  end loop;
  if cardinality(batch.posting_items) > 0 then
    select array_agg(account_ids[t.d] order by t.n), array_agg(account_ids[t.c] order by t.n) into debit_ids, credit_ids
      from unnest(batch.debits, batch.credits) with ordinality as t (d, c, n);
  end if;

  with hashed as (
    -- RFC 6962: sha256(0x00 || entry), the entry being position, time and body.
    select e.*, sha256('\x00'::bytea || int8send(e.seq) || stamp_bytes || e.body) as leaf_hash
    from (
      select t.*, firsts[t.i] + t.n - batch.first_events[t.i] as seq, substring(bodies from t.start + 1 for t.length) as body
      from (
        -- In the list of columns, because the same in FROM writes each row to a store and reads it back.
        select unnest(batch.event_items) as i, unnest(batch.event_kinds) as kind, unnest(batch.event_schemas) as schema,
          unnest(batch.event_times_ms) as time_ms, unnest(batch.event_starts) as start, unnest(batch.event_lengths) as length,
          unnest(batch.posting_starts) as posting, unnest(batch.posting_counts) as postings,
          generate_subscripts(batch.event_items, 1) as n
      ) t
      where firsts[t.i] is not null
      offset 0
    ) e
  ),
  log as (
    insert into ledger.events (
      seq, stream, version, kind, schema_version, recorded_at, effective_at, debits, credits, amounts, body, leaf_hash)
    select h.seq, coalesce(streams[h.i], firsts[h.i]), batch.expected[h.i] + (h.n - batch.first_events[h.i]) + 1,
      h.kind, h.schema, stamp, timestamptz 'epoch' + h.time_ms * interval '1 millisecond',
      case when h.postings > 0 then debit_ids[h.posting + 1 : h.posting + h.postings] end,
      case when h.postings > 0 then credit_ids[h.posting + 1 : h.posting + h.postings] end,
      case when h.postings > 0 then batch.amounts[h.posting + 1 : h.posting + h.postings] end,
      h.body, h.leaf_hash
    from hashed h
    returning seq, leaf_hash
  ),
  counted as (
    update ledger.head h set seq = next_position - 1, recorded_at = stamp, clock_at = clock,
      leaf_hash = coalesce((select l.leaf_hash from log l order by l.seq desc limit 1), h.leaf_hash)
    where h.one and (next_position > first_position or stamp > clock)
  )
  select string_agg(l.leaf_hash, ''::bytea order by l.seq) into leaf_hashes from log l;

  if 0 = any(batch.expected) then
    insert into ledger.streams (id, stream, kind, state, version, lease_until, seqs)
    select t.id, t.first, t.kind, t.to_state, t.events, stamp + t.lease_ms * interval '1 millisecond',
      int8multirange(int8range(t.first, t.first + t.events))
    from unnest(batch.ids, batch.expected, batch.leases_ms, batch.event_counts, judged.kinds, judged.to_states, firsts)
      as t (id, expected, lease_ms, events, kind, to_state, first)
    where t.first is not null and t.expected = 0;
  end if;
  if 0 < any(batch.expected) then
    update ledger.streams known
    set state = t.to_state, version = known.version + t.events, lease_until = stamp + t.lease_ms * interval '1 millisecond',
      seqs = known.seqs + int8multirange(int8range(t.first, t.first + t.events))
    from unnest(batch.ids, batch.expected, batch.leases_ms, batch.event_counts, judged.to_states, firsts)
      as t (id, expected, lease_ms, events, to_state, first)
    where t.first is not null and t.expected > 0 and known.id = t.id;
  end if;

  if cardinality(batch.key_items) > 0 then
    insert into ledger.keys as known (space, key, id, digest, until)
    select q.space, q.key, batch.ids[q.i], q.digest, stamp + q.life_s * interval '1 second'
    from unnest(batch.key_items, batch.key_spaces, batch.key_values, batch.key_digests, batch.key_lives_s) as q (i, space, key, digest, life_s)
    where firsts[q.i] is not null
    on conflict (space, key) do update set id = excluded.id, digest = excluded.digest, until = excluded.until;
  end if;
  if cardinality(batch.note_items) > 0 then
    insert into ledger.notes (id, note, recorded_at, is_keyed)
    select batch.ids[q.i], q.note, stamp, q.i = any(batch.key_items)
    from unnest(batch.note_items, note_values) as q (i, note)
    -- The head is locked, so no other session adds a note. A check for a conflict would log each row twice.
    where firsts[q.i] is not null and not exists (select from ledger.notes known where known.id = batch.ids[q.i]);
  end if;
  if judged.has_settings then
    insert into ledger.settings (name, number, seq, valid_from, body)
    select split_part(s.written, '#', 1), split_part(s.written, '#', 2)::integer, firsts[t.i],
      timestamptz 'epoch' + t.time_ms * interval '1 millisecond', substring(bodies from t.start + 1 for t.length)
    from unnest(batch.event_items, batch.event_times_ms, batch.event_starts, batch.event_lengths)
      with ordinality as t (i, time_ms, start, length, n)
    join ledger.kinds k on k.kind = judged.kinds[t.i] and k.is_setting
    cross join lateral (select encode(substring(batch.ids[t.i] from 2), 'escape') as written) s
    where firsts[t.i] is not null and t.n = batch.first_events[t.i] and batch.expected[t.i] = 0;
  end if;
  return leaf_hashes;
end
$$;
