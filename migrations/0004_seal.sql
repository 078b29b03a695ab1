-- Why: a superuser can rewrite the ledger. The seal is a Merkle tree over the events and signed statements of its root,
-- which others keep (docs/decisions/0010). Nothing here takes a lock that an append waits for.

-- Full tiles only (C2SP tlog-tiles): 256 neighbouring hashes of one level, leaves at level 0. The rest of the tree is
-- read from the events and from the roots of the tiles below. Leaves are stored here a second time, so that proofs
-- outlive archived partitions of events, and because 256 leaves are in one row instead of in 100 pages.
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

grant select on ledger.tiles, ledger.checkpoints to tollbook_service, tollbook_reader;
