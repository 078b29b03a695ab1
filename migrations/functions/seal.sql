-- Adds a checkpoint and the tiles that became full since the one before. The root and the signature are the caller's
-- claim, which anyone can check with the tiles. Enforced here: the tiles are the leaves of the events and the roots of each
-- other, and none is missing. For the holder of a lease (work.take_lease), which ends with it: a sealer that was paused and
-- replaced is refused, however late it comes.
create or replace function ledger.seal(
  lease_name text, lease_epoch bigint,
  tree_size bigint, tree_root bytea, signed_note text,
  tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- As in ledger.append_batch: a plan made while the tables were small would read all of them ever after.
set enable_seqscan = off
set jit = off
as $$
declare
  known_size bigint;
begin
  -- Locks the row of the lease, so that checkpoints are added one after the other.
  perform work.require_lease(lease_name, lease_epoch);
  select coalesce(max(c.size), 0) into known_size from ledger.checkpoints c;
  if tree_size <= known_size then
    raise exception 'a checkpoint of size % exists; size % is not newer', known_size, tree_size
      using errcode = 'check_violation';
  end if;
  if tree_size > (select h.seq from ledger.head h where h.one) then
    raise exception 'a checkpoint of size % covers events that do not exist', tree_size using errcode = 'check_violation';
  end if;

  perform set_config('ledger.writing', 'on', true);
  insert into ledger.tiles (level, index, hashes, root)
  select t.level, t.index, t.hashes, t.root
  from unnest(tile_levels, tile_indexes, tile_hashes, tile_roots) as t (level, index, hashes, root);
  insert into ledger.checkpoints (size, root, note, sealed_at)
  values (tree_size, tree_root, signed_note, clock_timestamp());
  perform set_config('ledger.writing', 'off', true);

  -- A tree of n leaves has n >> 8 full tiles at level 0, n >> 16 at level 1, and so on.
  if exists (
    select
    from generate_series(0, 6) as wanted (level)
    cross join lateral (
      select count(*) as tiles, min(t.index) as first, max(t.index) as last
      from unnest(tile_levels, tile_indexes) as t (level, index)
      where t.level = wanted.level
    ) given
    where given.tiles <> (tree_size >> 8 * (wanted.level + 1)) - (known_size >> 8 * (wanted.level + 1))
      or given.first <> known_size >> 8 * (wanted.level + 1)
      or given.last <> (tree_size >> 8 * (wanted.level + 1)) - 1
  ) then
    raise exception 'the tiles are not those from size % to size %', known_size, tree_size using errcode = 'check_violation';
  end if;
  if exists (
    select
    from unnest(tile_levels, tile_indexes, tile_hashes) as t (level, index, hashes)
    where t.hashes is distinct from case t.level
      when 0 then (
        select string_agg(e.leaf_hash, ''::bytea order by e.seq)
        from ledger.events e
        where e.seq > t.index * 256 and e.seq <= (t.index + 1) * 256)
      else (
        select string_agg(below.root, ''::bytea order by below.index)
        from ledger.tiles below
        where below.level = t.level - 1 and below.index >= t.index * 256 and below.index < (t.index + 1) * 256)
    end
  ) then
    raise exception 'the tiles are not of the leaves of the events' using errcode = 'check_violation';
  end if;
  perform work.end_lease(lease_name, lease_epoch);
end
$$;
grant execute on function ledger.seal to tollbook_service;
