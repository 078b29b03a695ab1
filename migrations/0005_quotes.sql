-- Why: a quote fixes a price before a payment. Quotes are append-only but not events, because anyone may ask for one; a
-- paid quote is copied whole into its payment's first event. Unpaid ones are dropped with their day's partition.
-- The amounts are those of `endpoint` and `mint` in the price list (ledger.settings, name `prices`); `required` is
-- repeated because a payment takes the cheapest open quote.
create table ledger.quotes (
  id text not null,
  wallet text not null,
  endpoint text not null,
  memo text not null,
  price_list integer not null,
  mint text not null,
  required numeric(20, 0) not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  slot bigint not null,
  constraint quotes_are_found_by_wallet_and_endpoint primary key (wallet, endpoint, issued_at, id),
  constraint quotes_ask_for_something check (required > 0),
  constraint quotes_expire check (expires_at > issued_at)
) partition by range (issued_at);

-- A payment without a memo takes the cheapest open quote of its wallet. A wallet that buys 20 answers a second has
-- thousands of open quotes; without this index each of its payments sorts them all (12 ms at 8,000).
create index quotes_by_price on ledger.quotes (wallet, endpoint, required, issued_at desc);
select ledger.protect_log('ledger.quotes');

-- Quotes of dropped days that a payment still needs (docs/decisions/0001). A partition whose upper bound moves up with
-- the dropped days.
create table ledger.quotes_kept (like ledger.quotes including all);
select ledger.protect_log('ledger.quotes_kept');
alter table ledger.quotes attach partition ledger.quotes_kept for values from (minvalue) to ('2000-01-01 00:00:00+00');

grant select on ledger.quotes to tollbook_service, tollbook_reader;
