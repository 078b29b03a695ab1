-- Why: a report over a range of days must cost the same whether the book has a thousand payments or a million. Totals and
-- the list of payments are derived from the log in its order, in the background and never in the way of a payment: the
-- write path does not know of them. Not part of the book: everything here can be thrown away and derived again.
create schema reports;
revoke all on schema reports from public;
grant usage on schema reports to tollbook_service, tollbook_reader;

-- How far the log has been rolled up. Its lock lets one session at a time do it.
create table reports.progress (
  one boolean not null default true,
  upto_seq bigint not null,
  constraint progress_is_one_row primary key (one),
  constraint progress_is_the_one check (one)
);
insert into reports.progress (upto_seq) values (0);

-- One row for each payment, with the net of all its entries: received + lost = unearned + provider + holders + treasury + owed.
create table reports.payments (
  signature text not null,
  seq bigint not null,
  wallet text not null,
  endpoint text not null,
  mint text,
  state text not null,
  attempts integer not null default 0,
  paid_at timestamptz not null,
  fulfilled_at timestamptz,
  finalized_at timestamptz,
  slot bigint,
  price_micro_usd bigint,
  required numeric(20, 0),
  received numeric(38, 0) not null default 0,
  burned numeric(38, 0) not null default 0,
  unearned numeric(38, 0) not null default 0,
  provider numeric(38, 0) not null default 0,
  holders numeric(38, 0) not null default 0,
  treasury numeric(38, 0) not null default 0,
  owed numeric(38, 0) not null default 0,
  lost numeric(38, 0) not null default 0,
  constraint payments_one_row_each primary key (signature)
) with (fillfactor = 80);
create index payments_by_time on reports.payments (paid_at, seq);
create index payments_by_endpoint on reports.payments (endpoint, paid_at, seq);
create index payments_by_wallet on reports.payments (wallet, paid_at, seq);
-- Nearly all payments are fulfilled; the few that are not are what finance looks for.
create index payments_unsettled on reports.payments (state, paid_at, seq) where state <> 'fulfilled';

-- Movements per UTC day, endpoint and account; day -infinity is all days. The wallet in an account's name is left out, or
-- there would be as many rows as wallets. Endpoint '' is what belongs to no single payment.
create table reports.daily_totals (
  mint text not null,
  day date not null,
  endpoint text not null,
  account text not null,
  debits numeric(38, 0) not null,
  credits numeric(38, 0) not null,
  debit_entries bigint not null,
  credit_entries bigint not null,
  constraint daily_totals_one_row_each primary key (mint, day, endpoint, account)
) with (fillfactor = 50);

create table reports.wallet_totals (
  mint text not null,
  wallet text not null,
  day date not null,
  payments bigint not null,
  received numeric(38, 0) not null,
  burned numeric(38, 0) not null,
  provider numeric(38, 0) not null,
  holders numeric(38, 0) not null,
  treasury numeric(38, 0) not null,
  lost numeric(38, 0) not null default 0,
  constraint wallet_totals_one_row_each primary key (mint, wallet, day)
) with (fillfactor = 80);

-- The columns of the list of payments, summed by the day that the payments were made on: an entry of a later day, such as a
-- reversal, belongs to its payment here and to its own day in daily_totals. Wallet '' is all wallets, -infinity all days.
create table reports.payment_totals (
  mint text not null,
  wallet text not null,
  day date not null,
  endpoint text not null,
  payments bigint not null,
  received numeric(38, 0) not null,
  burned numeric(38, 0) not null,
  lost numeric(38, 0) not null,
  unearned numeric(38, 0) not null,
  provider numeric(38, 0) not null,
  holders numeric(38, 0) not null,
  treasury numeric(38, 0) not null,
  owed numeric(38, 0) not null,
  constraint payment_totals_one_row_each primary key (mint, wallet, day, endpoint)
) with (fillfactor = 80);

-- One row for each debt that a payout paid. A payout pays an account and no payment, so it is in no row of payments.
create table reports.payouts (
  seq bigint not null,
  line integer not null,
  mint text not null,
  signature text not null,
  plan_id text not null,
  part integer not null,
  account text not null,
  wallet text not null,
  amount numeric(38, 0) not null,
  paid_at timestamptz not null,
  constraint payouts_one_row_each primary key (seq, line)
);
create index payouts_by_wallet on reports.payouts (wallet, seq, line);
create index payouts_by_account on reports.payouts (account, seq, line);

grant select on
  reports.progress, reports.payments, reports.daily_totals, reports.wallet_totals, reports.payment_totals, reports.payouts
  to tollbook_service, tollbook_reader;
