-- Why: whoever can write the whole database can rewrite the book. The seal is a Merkle tree over the events and signed
-- statements of its root, which others keep (docs/decisions/0010). Nothing here takes a lock that an append waits for.

-- Full tiles only (C2SP tlog-tiles): 256 neighbouring hashes of one level, leaves at level 0. The rest of the tree is read
-- from the events and from the roots of the tiles below. Leaves are kept here a second time, so that proofs outlive
-- partitions of events that were put away, and because 256 leaves stand in one row instead of in 100 pages.
create table ledger.tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  root bytea not null,
  constraint tiles_are_written_once primary key (level, index),
  constraint tiles_level_is_of_a_countable_tree check (level between 0 and 6),
  constraint tiles_count_from_zero check (index >= 0),
  constraint tiles_are_full check (octet_length(hashes) = 256 * 32),
  constraint tiles_root_is_sha256 check (octet_length(root) = 32)
);
-- Hashes do not compress; trying to costs more than it could gain.
alter table ledger.tiles alter column hashes set storage external;

create table ledger.checkpoints (
  size bigint not null,
  root bytea not null,
  note text not null,
  sealed_at timestamptz not null,
  constraint checkpoints_one_per_size primary key (size),
  constraint checkpoints_size_counts_events check (size > 0),
  constraint checkpoints_root_is_sha256 check (octet_length(root) = 32)
);

select ledger.protect_log(protected)
from unnest(array['ledger.tiles', 'ledger.checkpoints']::regclass[]) as protected;

-- Adds a checkpoint and the tiles that became full since the one before. The root and the signature are the caller's word,
-- which anybody can check with the tiles; what makes the tiles is enforced here: they are the leaves of the events and the
-- roots of each other, and none is missing.
create function ledger.seal(
  tree_size bigint, tree_root bytea, signed_note text,
  tile_levels smallint[], tile_indexes bigint[], tile_hashes bytea[], tile_roots bytea[])
returns void
language plpgsql
security definer
set search_path = ''
-- As in ledger.append: every look-up here is by primary key, whatever a planner thought while the tables were small.
set enable_seqscan = off
set jit = off
as $$
declare
  known_size bigint;
begin
  -- The sealer holds it already; this is for whoever calls without it.
  perform pg_advisory_xact_lock(hashtext('ledger.seal'));
  select coalesce(max(c.size), 0) into known_size from ledger.checkpoints c;
  if tree_size <= known_size then
    raise exception 'a checkpoint of size % stands already; one of size % would not be newer', known_size, tree_size
      using errcode = 'check_violation';
  end if;
  if tree_size > (select h.seq from ledger.head h where h.one) then
    raise exception 'a checkpoint of size % is of events that are not there', tree_size using errcode = 'check_violation';
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
end
$$;

grant select on ledger.tiles, ledger.checkpoints to tollbook_service, tollbook_reader;
revoke execute on function ledger.seal from public;
grant execute on function ledger.seal to tollbook_service;
