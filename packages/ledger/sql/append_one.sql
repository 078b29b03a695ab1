-- One event to one stream, for the functions of other writers than the service. They make the postings from the body, so
-- the two cannot disagree.
create or replace function ledger.append_one(
  writer text, step text, id bytea, expected integer, body bytea, mint text, debits text[], credits text[], amounts numeric[],
  guard_id bytea default null, key_space smallint default null, key_value bytea default null,
  out refusal text, out seq bigint, out leaf_hash bytea, out recorded_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(body, 'UTF8')::jsonb;
  postings constant integer := cardinality(debits);
  names constant text[] := array(select distinct n from unnest(debits || credits) n);
  guard constant integer[] := case when guard_id is null then '{}' else array[1] end;
  key constant integer[] := case when key_space is null then '{}' else array[1] end;
  batch ledger.batch;
  appended record;
begin
  batch := row(
    array[id], array[step], array[expected], array[null::integer], array[1], array[1],
    array[1], array[said ->> 'kind'], array[(said ->> 'schemaVersion')::smallint],
    array[(extract(epoch from (said ->> 'effectiveAt')::timestamptz) * 1000)::bigint],
    array[0], array[octet_length(body)], array[0], array[postings],
    array_fill(mint, array[cardinality(names)]), names,
    array_fill(1, array[postings]), array_fill(1, array[postings]),
    array(select array_position(names, d.name) from unnest(debits) with ordinality as d (name, n) order by d.n),
    array(select array_position(names, c.name) from unnest(credits) with ordinality as c (name, n) order by c.n), amounts,
    guard, array_fill(guard_id, array[cardinality(guard)]), guard,
    key, array_fill(key_space, array[cardinality(key)]), array_fill(key_value, array[cardinality(key)]),
    array_fill(null::bytea, array[cardinality(key)]), array_fill(null::integer, array[cardinality(key)]),
    '{}'::integer[])::ledger.batch;
  appended := ledger.append_as(writer, batch, body, '{}');
  refusal := appended.refusals[1];
  if refusal is null then
    seq := appended.first_position;
    leaf_hash := appended.leaf_hashes;
    recorded_at := appended.recorded_at;
  end if;
end
$$;
