-- Why: a quote fixes a price before a payment. Quotes are append-only but not events, because anyone may ask for one; a
-- paid quote is copied whole into its payment's first event. Unpaid ones are dropped with their day's partition.
-- The amounts are those of `endpoint` and `mint` in the price list (ledger.settings, name `prices`); `required` is
-- repeated because a payment takes the cheapest open quote. One index serves both lookups: by wallet and endpoint, and
-- within those by memo.
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

select ledger.protect_log('ledger.quotes');

grant select on ledger.quotes to tollbook_service, tollbook_reader;

-- Position up to which the payment wallet's token account has been searched for transfers that no payment explains. Not
-- part of the ledger: from an older place the search finds the same.
create table paywall.transfer_scans (
  token_account text not null,
  signature text not null,
  slot bigint not null,
  scanned_at timestamptz not null,
  constraint transfer_scans_one_per_token_account primary key (token_account)
);

grant select on paywall.transfer_scans to tollbook_service;
