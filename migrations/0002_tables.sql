-- Why: the append-only book (docs/decisions/0001 to 0003). `events.body` is the truth; every other column and table
-- here is derived from it and can be derived again.

-- The only point of serialisation, over all instances: who holds this row's lock assigns the next positions.
create table ledger.head (
  one boolean primary key default true,
  seq bigint not null,
  recorded_at timestamptz not null,
  constraint head_is_one_row check (one)
);

create table ledger.events (
  seq bigint not null,
  stream text not null,
  version integer not null,
  kind text not null,
  schema_version smallint not null,
  recorded_at timestamptz not null,
  effective_at timestamptz not null,
  body bytea not null,
  leaf_hash bytea not null,
  constraint events_position_is_unique primary key (seq),
  constraint events_position_counts_from_one check (seq > 0),
  constraint events_version_counts_from_one check (version > 0),
  constraint events_leaf_is_sha256 check (octet_length(leaf_hash) = 32),
  -- C2SP entry bundles give an entry two bytes of length; 16 of them are position and time.
  constraint events_body_fits_a_tile_entry check (octet_length(body) between 2 and 65519)
) partition by range (seq);

-- One row per proof, for ever, never partitioned: the primary key is what makes a payment single-use. It is also the
-- expected version of the payment's stream.
create table ledger.payments (
  signature bytea not null,
  version integer not null,
  state text not null,
  wallet text not null,
  endpoint text not null,
  attempt integer not null,
  lease_until timestamptz,
  quote_id text,
  seqs bigint[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint payments_signature_used_once primary key (signature),
  constraint payments_signature_is_64_bytes check (octet_length(signature) = 64),
  constraint payments_state_is_known check (state in ('submitted', 'verified', 'claimed', 'released', 'fulfilled')),
  constraint payments_claim_has_a_lease check ((state = 'claimed') = (lease_until is not null)),
  constraint payments_version_counts_events check (version = cardinality(seqs))
) with (fillfactor = 70);

create table ledger.entries (
  seq bigint not null,
  line smallint not null,
  account text not null,
  mint text not null,
  amount numeric(20, 0) not null,
  constraint entries_line_is_unique primary key (seq, line),
  constraint entries_move_something check (amount <> 0)
) partition by range (seq);

create table ledger.balances (
  mint text not null,
  account text not null,
  balance numeric(38, 0) not null,
  entries bigint not null,
  upto_seq bigint not null,
  constraint balances_one_per_account primary key (mint, account)
) with (fillfactor = 50);

-- Burned amounts per span of time and endpoint; endpoint '' is all of them. Reading it costs the same however long
-- the ledger is.
create table ledger.burn_totals (
  mint text not null,
  span text not null,
  starts_at timestamptz not null,
  endpoint text not null,
  burned numeric(38, 0) not null,
  payments bigint not null,
  constraint burn_totals_one_per_span primary key (mint, span, starts_at, endpoint),
  constraint burn_totals_span_is_known check (span in ('all', 'day', 'hour'))
) with (fillfactor = 50);

-- Each list of prices that was ever quoted; the price in force at a moment is the newest one before it.
create table ledger.price_lists (
  version integer not null,
  seq bigint not null,
  effective_at timestamptz not null,
  body bytea not null,
  constraint price_lists_version_is_unique primary key (version)
);
create index price_lists_by_time on ledger.price_lists (effective_at);

-- Anyone may ask for a quote, so unpaid ones can be detached by the day; a paid one is copied whole into its payment's
-- first event. One index serves both look-ups: by wallet and endpoint, and within those by memo.
create table ledger.quotes (
  id text not null,
  wallet text not null,
  endpoint text not null,
  memo text not null,
  price_micro_usd bigint not null,
  token_price_atto_usd numeric(38, 0) not null,
  mint text not null,
  decimals smallint not null,
  required numeric(20, 0) not null,
  burn numeric(20, 0) not null,
  provider numeric(20, 0) not null,
  holders numeric(20, 0) not null,
  treasury numeric(20, 0) not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  slot bigint not null,
  constraint quotes_are_found_by_wallet_and_endpoint primary key (wallet, endpoint, issued_at, id),
  constraint quotes_shares_add_up check (burn + provider + holders + treasury = required),
  constraint quotes_expire check (expires_at > issued_at)
) partition by range (issued_at);

-- Answers kept for a day for callers who sent an Idempotency-Key. Not part of the book: rows are deleted when they expire.
create table paywall.idempotent_answers (
  wallet text not null,
  key text not null,
  signature bytea not null,
  order_digest text not null,
  recorded_at timestamptz not null,
  answer text,
  fulfilled_seq bigint,
  fulfilled_leaf bytea,
  fulfilled_at timestamptz,
  constraint idempotent_answers_key_used_once primary key (wallet, key)
);
create index idempotent_answers_by_age on paywall.idempotent_answers (recorded_at);

insert into ledger.head (seq, recorded_at) values (0, 'epoch');
