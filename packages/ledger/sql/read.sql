-- The events of streams, in the order of positions. The only way to read them: a join of a stream's ranges with the events
-- read every partition (21 ms at 60). Here the positions are constants of the plan, which then holds no other partition:
-- planning and reading cost the same however many there are. A stream has few events, and all of them are returned or none:
-- a state that is folded from a part of them would be another state.
create or replace function ledger.read(stream_id bytea)
returns table (seq bigint, version integer, kind text, schema_version smallint, recorded_at timestamptz,
  effective_at timestamptz, body bytea, leaf_hash bytea)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
-- The stream is looked up by its key with one plan for all. Most payments are presented for the first time and end there.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  positions bigint[];
  expected bigint;
  found bigint;
begin
  select array_agg(p.seq), max(s.version) into positions, expected
    from ledger.streams s
    cross join lateral unnest(s.seqs) as r
    cross join lateral generate_series(lower(r), upper(r) - 1) as p (seq)
    where s.id = stream_id;
  if positions is null then
    return;
  end if;
  return query execute
  'select e.seq, e.version, e.kind, e.schema_version, e.recorded_at, e.effective_at, e.body, e.leaf_hash
  from ledger.events e
  where e.seq = any($1)
  order by e.seq' using positions;
  get diagnostics found = row_count;
  if found <> expected then
    raise exception 'a stream of % events was read as %', expected, found using errcode = 'data_corrupted';
  end if;
end
$$;
grant execute on function ledger.read to tollbook_service, tollbook_reader;

create or replace function ledger.read_many(stream_ids bytea[])
returns table (id bytea, seq bigint, version integer, kind text, schema_version smallint, recorded_at timestamptz,
  effective_at timestamptz, body bytea, leaf_hash bytea)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  positions bigint[];
  expected bigint;
  found bigint;
begin
  select array_agg(p.seq) into positions
    from ledger.streams s
    cross join lateral unnest(s.seqs) as r
    cross join lateral generate_series(lower(r), upper(r) - 1) as p (seq)
    where s.id = any(stream_ids);
  if positions is null then
    return;
  end if;
  select coalesce(sum(s.version), 0) into expected from ledger.streams s where s.id = any(stream_ids);
  return query execute
  'select s.id, e.seq, e.version, e.kind, e.schema_version, e.recorded_at, e.effective_at, e.body, e.leaf_hash
  from ledger.events e
  join ledger.streams s on s.stream = e.stream
  where e.seq = any($1)
  order by e.seq' using positions;
  get diagnostics found = row_count;
  if found <> expected then
    raise exception 'streams of % events were read as %', expected, found using errcode = 'data_corrupted';
  end if;
end
$$;
grant execute on function ledger.read_many to tollbook_service, tollbook_reader;
