-- Why: a payment that was presented in time must not become too old during an outage, so its first presentation is on
-- record. Not part of the ledger: rows expire after a day, and the table never has more rows than the function allows.
create table work.presentations (
  reference bytea not null,
  wallet text not null,
  -- Time of the chain, which no clock of ours can put wrong.
  presented_at timestamptz not null,
  -- The transaction cannot land in a block above this height.
  last_valid_height bigint not null,
  -- Counts up, so that the oldest rows are found without a search.
  number bigint generated always as identity,
  recorded_at timestamptz not null default clock_timestamp(),
  constraint presentations_one_row_each primary key (reference, wallet),
  constraint presentations_reference_is_short check (octet_length(reference) between 2 and 65),
  constraint presentations_wallet_is_an_address check (length(wallet) between 32 and 44),
  constraint presentations_height_is_positive check (last_valid_height > 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index presentations_by_number on work.presentations (number);

grant select on work.presentations to tollbook_service;
