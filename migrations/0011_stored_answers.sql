-- Why: an answer is stored with its fulfilment until it has been sent (docs/decisions/0021), and a program can tell whether
-- a newer schema still takes it (docs/decisions/0022). Both only add: release 0008 runs on this schema.

-- Null until the process that sent the answer reported it. A note of an append that brought a key stays for its day; any
-- other is deleted once it was sent. Rows of earlier releases all belong to keys.
alter table ledger.notes add column is_keyed boolean not null default true;
alter table ledger.notes add column sent_at timestamptz;
-- Most rows live for less than a second.
alter table ledger.notes set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The number of the oldest program that may run on this schema: that of its last numbered migration. A migration that
-- removes what older programs use raises it in the same file.
create table migration.compatibility (
  one boolean not null default true,
  oldest_program integer not null,
  constraint compatibility_is_one_row primary key (one),
  constraint compatibility_is_the_one check (one),
  constraint compatibility_counts_from_one check (oldest_program > 0)
);
insert into migration.compatibility (oldest_program) values (8);
grant select on migration.compatibility to tollbook_service, tollbook_reader, tollbook_payout, tollbook_burner, tollbook_operator;
