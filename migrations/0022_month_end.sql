-- Why: a month that was closed must keep its figures, and reports show dollars at the price of the day (docs/decisions/0041).
-- Both tables are derived from the ledger like every table of this schema. Release 0021 runs on this schema.

-- Entries recorded after their month was closed: later than a day after the end of the month in which they took effect. Their
-- amounts are in daily_totals as well; a closing statement shows them as restated and not as figures of their month.
create table reports.late_entries (
  seq bigint not null,
  mint text not null,
  day date not null,
  kind text not null,
  endpoint text not null,
  account text not null,
  debits numeric(38, 0) not null,
  credits numeric(38, 0) not null,
  value_pico_usd numeric(38, 0) not null,
  constraint late_entries_one_row_each primary key (seq, mint, kind, endpoint, account, day)
);
create index late_entries_by_day on reports.late_entries (mint, day, seq);

-- Sums over the payments that were verified on a UTC day and recorded before their month was closed. The price of the day
-- is price_micro_usd / required: the mean of the quoted prices, weighted by amount.
create table reports.day_prices (
  mint text not null,
  day date not null,
  price_micro_usd numeric(38, 0) not null,
  required numeric(38, 0) not null,
  payments bigint not null,
  constraint day_prices_one_row_each primary key (mint, day)
) with (fillfactor = 50);

grant select on reports.late_entries, reports.day_prices to tollbook_service, tollbook_reader;

-- The next roll-ups fill the sums again, with these two tables.
truncate reports.payments, reports.payouts, reports.refunds, reports.daily_totals, reports.wallet_totals, reports.payment_totals;
update reports.progress set upto_seq = 0 where one;
