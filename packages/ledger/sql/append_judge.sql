-- Judges each item against its stream, its step, and the moves of the step. The first reason is the one that is returned.
-- Items and events that point elsewhere than the counts say would post to another stream than was judged, so columns that
-- do not fit together are refused as a whole.
create or replace function ledger.judge(writer text, batch ledger.batch, chart ledger.batch_accounts, stamp timestamptz)
returns ledger.judgement
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- An element of a local array is found at once; of an array in a row, by reading those before it.
  mints constant text[] := batch.account_mints;
  classes constant text[] := chart.classes;
  judged ledger.judgement;
  fits boolean;
  ids_differ boolean;
  attached integer[];  -- items that have guards, keys and notes
begin
  with item as materialized (
    select item.n, item.id, item.events, known.stream, s.kind, s.to_state, s.moves, k.is_setting,
      item.id is not null and (batch.event_items[item.first : item.first + item.events - 1] = array_fill(item.n::integer, array[item.events])) is true as fits,
      case
        when coalesce(known.version, 0) <> item.expected or known.kind <> s.kind then 'conflict'
        when s.step is null then 'no step'
        when s.after_lease and known.lease_until > stamp then 'conflict'
        when s.writer <> judge.writer or (s.lease = 'take') <> (item.lease_ms is not null) or item.lease_ms <= 0 then 'not_this_step'
        when octet_length(item.id) < 2 then 'not_this_id'
        when k.space <> get_byte(item.id, 0) or k.id_bytes not in (0, octet_length(item.id) - 1)
          or k.id_prefix <> '' and substring(item.id from 2 for length(k.id_prefix)) <> convert_to(k.id_prefix, 'UTF8') then 'not_this_id'
      end as verdict
    from (
      -- The step is looked up once per list of events, which most items of a batch share.
      select item.*, batch.event_kinds[item.first : item.first + item.events - 1] as event_kinds
      from unnest(batch.ids, batch.steps, batch.expected, batch.leases_ms, batch.event_counts, batch.first_events)
        with ordinality as item (id, step, expected, lease_ms, events, first, n)
      offset 0
    ) item
    left join lateral (
      select s.stream, s.kind, s.state, s.version, s.lease_until from ledger.streams s where s.id = item.id offset 0
    ) known on true
    left join lateral (
      select s.* from ledger.steps s
      where s.step = item.step and s.from_state = coalesce(known.state, '') and s.event_kinds = item.event_kinds
      offset 0
    ) s on true
    left join lateral (select k.* from ledger.kinds k where k.kind = s.kind offset 0) k on true
  ),
  overreaching as (
    -- Amounts are whole: columns round 0.5, and NaN is more than any number.
    select array_agg(t.i) filter (where (t.amount > 0 and t.amount < 'Infinity' and t.amount = trunc(t.amount) and mints[t.debit] = mints[t.credit]
        and classes[t.debit] || '>' || classes[t.credit] = any(item.moves)) is not true) as items,
      -- Each posting lies in the range of its event, and there are as many as the events count: the ranges share none.
      bool_and((batch.event_items[t.e] = t.i and t.n > batch.posting_starts[t.e]
        and t.n <= batch.posting_starts[t.e] + batch.posting_counts[t.e]) is true) as fit
    from unnest(batch.posting_items, batch.posting_events, batch.debits, batch.credits, batch.amounts)
      with ordinality as t (i, e, debit, credit, amount, n)
    left join item on item.n = t.i
  )
  select array_agg(case when j.verdict is null and j.n = any((select o.items from overreaching o)::bigint[]) then 'overreaching' else j.verdict end order by j.n),
      array_agg(j.to_state order by j.n), array_agg(j.kind order by j.n), array_agg(j.stream order by j.n), bool_or(j.is_setting),
      bool_and(j.fits) and sum(j.events) = cardinality(batch.event_items) and (select o.fit is not false from overreaching o)
        and 0 <= all(batch.posting_counts)
        and (select coalesce(sum(c), 0) = cardinality(batch.posting_items) from unnest(batch.posting_counts) c),
      count(distinct j.id) = count(j.id)
    into judged.verdicts, judged.to_states, judged.kinds, judged.streams, judged.has_settings, fits, ids_differ
    from item j;
  attached := coalesce(batch.guard_items || batch.key_items || batch.note_items, '{}');
  if (fits and 1 <= all(attached) and cardinality(batch.ids) >= all(attached)) is not true then
    raise exception 'the columns of an append do not fit together' using errcode = 'data_exception';
  end if;
  if cardinality(batch.guard_items || batch.key_items) > 0 or judged.has_settings or 'no step' = any(judged.verdicts) then
    judged.verdicts := ledger.judge_seldom(batch, judged, stamp);
  end if;
  if not ids_differ then
    judged.verdicts := ledger.judge_repeated(batch.ids, judged.verdicts);
  end if;
  return judged;
end
$$;

-- The verdicts after the checks that few batches need: no step, guards, keys and settings. Each statement costs 50 to 150
-- microseconds although it finds nothing, and every debit of a tab has a guard.
create or replace function ledger.judge_seldom(batch ledger.batch, judged ledger.judgement, stamp timestamptz) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  verdicts text[] := judged.verdicts;
  reason text;
  i integer;
begin
  if 'no step' = any(verdicts) then
    -- A step that does not start in the stream's state is late; one that does has other events.
    for i, reason in
      select q.n, case
        when not exists (select from ledger.steps known where known.step = q.step)
          or exists (
            select from ledger.steps known
            left join ledger.streams s on s.id = q.id
            where known.step = q.step and known.from_state = coalesce(s.state, ''))
        then 'not_this_step' else 'conflict' end
      from unnest(batch.ids, batch.steps, judged.verdicts) with ordinality as q (id, step, verdict, n)
      where q.verdict = 'no step'
    loop
      verdicts[i] := reason;
    end loop;
  end if;
  if cardinality(batch.guard_items) > 0 then
    -- A stream that an item before it in the batch changes is not at its version either.
    for i in
      select g.i
      from unnest(batch.guard_items, batch.guard_ids, batch.guard_versions) as g (i, id, version)
      left join ledger.streams s on s.id = g.id
      where coalesce(s.version, 0) is distinct from g.version or array_position(batch.ids[: g.i - 1], g.id) is not null
    loop
      verdicts[i] := coalesce(verdicts[i], 'guard');
    end loop;
  end if;
  if cardinality(batch.key_items) > 0 then
    -- The stream that took a key may use it again with the same digest, whatever items before it in the batch want.
    for i in
      select q.i
      from unnest(batch.key_items, batch.key_spaces, batch.key_values, batch.key_digests) with ordinality as q (i, space, key, digest, n)
      left join ledger.keys used on used.space = q.space and used.key = q.key and (used.until is null or used.until > stamp)
      where used.id <> batch.ids[q.i] or used.id is not null and used.digest is distinct from q.digest
        or used.id is null and exists (
          select from unnest(batch.key_items, batch.key_spaces, batch.key_values) with ordinality as b (i, space, key, n)
          where b.n < q.n and b.i <> q.i and b.space = q.space and b.key = q.key)
    loop
      verdicts[i] := coalesce(verdicts[i], 'key_used');
    end loop;
  end if;
  if judged.has_settings then
    -- Numbers of a setting follow each other.
    for i, reason in
      select t.n, case when split.name is null or split.number > s.number_max then 'not_this_id' else 'guard' end
      from unnest(batch.ids, judged.kinds, batch.steps, judged.to_states) with ordinality as t (id, kind, step, to_state, n)
      join ledger.kinds k on k.kind = t.kind and k.is_setting
      join ledger.steps s on s.step = t.step and s.kind = t.kind and s.to_state = t.to_state
      left join lateral (
        select m[1] as name, m[2]::integer as number
        from regexp_match(encode(substring(t.id from 2), 'escape'), '^([a-z0-9-]{1,40}(?:/[1-9A-Za-z]{1,44})?)#([1-9][0-9]{0,8})$') as m
      ) split on split.name is not null
      where split.name is null or split.number > s.number_max
        or split.number > 1 and not exists (
          select from ledger.settings known where known.name = split.name and known.number = split.number - 1)
    loop
      verdicts[i] := coalesce(verdicts[i], reason);
    end loop;
  end if;
  return verdicts;
end
$$;

-- The verdicts after the check for two items of one stream, which the caller's queue keeps apart: only the first is taken.
create or replace function ledger.judge_repeated(ids bytea[], verdicts text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  judged text[] := verdicts;
  i integer;
begin
  for i in
    select q.n from unnest(ids) with ordinality as q (id, n)
    where exists (
      select from unnest(ids, judged) with ordinality as b (id, verdict, n) where b.n < q.n and b.id = q.id and b.verdict is null)
  loop
    judged[i] := coalesce(judged[i], 'conflict');
  end loop;
  return judged;
end
$$;
