-- Why: a report over a range of days must cost the same for a thousand payments and for a million. reports.roll_up follows
-- the log by position in the background, so appends do not know of reports. Every table here is derived from the ledger:
-- reports.reset() empties them, and the next roll-ups fill them again with the same rows.
create schema reports;
revoke all on schema reports from public;
grant usage on schema reports to tollbook_service, tollbook_reader;

-- Last position rolled up. The lock on this row lets one session at a time roll up.
create table reports.progress (
  one boolean not null default true,
  upto_seq bigint not null,
  constraint progress_is_one_row primary key (one),
  constraint progress_is_the_one check (one)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into reports.progress (upto_seq) values (0);

-- The readable list of payments. Amounts are the net of all entries of the payment's stream, in base units:
-- received + lost = unearned + burn_owed + shares + owed.
create table reports.payments (
  -- Position of the payment's first event.
  stream bigint not null,
  -- Rail and key, for example solana:<base58 signature>.
  reference text not null,
  wallet text not null,
  -- 'unmatched' for tokens that arrived without a request.
  endpoint text not null,
  mint text,
  -- ledger.streams.state without its finality.
  state text not null,
  is_final boolean not null default false,
  attempts integer not null default 0,
  paid_at timestamptz not null,
  fulfilled_at timestamptz,
  finalized_at timestamptz,
  slot bigint,
  price_micro_usd numeric(38, 0),
  required numeric(38, 0),
  received numeric(38, 0) not null default 0,
  -- Burned inside the payment.
  burned numeric(38, 0) not null default 0,
  -- To be burned by us. It stays when a burn confirms it: a burn confirms the debt of many payments at once.
  burn_owed numeric(38, 0) not null default 0,
  lost numeric(38, 0) not null default 0,
  unearned numeric(38, 0) not null default 0,
  owed numeric(38, 0) not null default 0,
  -- {"provider": 5000000, ...}: whatever shares the split of its price has.
  shares jsonb not null default '{}',
  constraint payments_one_row_each primary key (stream),
  constraint payments_reference_is_unique unique (reference)
) with (fillfactor = 80);
create index payments_by_time on reports.payments (paid_at, stream);
create index payments_by_endpoint on reports.payments (endpoint, paid_at, stream);
create index payments_by_wallet on reports.payments (wallet, paid_at, stream);
-- Nearly all payments are fulfilled; finance looks for the few that are not.
create index payments_unsettled on reports.payments (state, paid_at, stream) where state <> 'fulfilled';

-- Movements per UTC day, kind of stream, endpoint and account; day -infinity is all days. Accounts of single wallets are
-- one line (Liabilities:Overpaid), accounts of shares are one line each (Liabilities:Share:provider), and burns are one line
-- whose endpoint is that of the account (Expenses:Burned). Endpoint '' belongs to no payment.
create table reports.daily_totals (
  mint text not null,
  day date not null,
  kind text not null,
  endpoint text not null,
  account text not null,
  debits numeric(38, 0) not null,
  credits numeric(38, 0) not null,
  -- Verified less reversed, on the day they were paid; counted on Assets:PaymentWallet.
  payments bigint not null,
  constraint daily_totals_one_row_each primary key (mint, day, kind, endpoint, account)
) with (fillfactor = 50);

-- Movements of payments per wallet and UTC day.
create table reports.wallet_totals (
  mint text not null,
  wallet text not null,
  day date not null,
  payments bigint not null,
  received numeric(38, 0) not null,
  burned numeric(38, 0) not null,
  burn_owed numeric(38, 0) not null,
  lost numeric(38, 0) not null,
  shares jsonb not null,
  constraint wallet_totals_one_row_each primary key (mint, wallet, day)
) with (fillfactor = 80);

-- The columns of reports.payments summed by the day on which the payment was made: a later entry, such as a reversal, belongs
-- to its payment here and to its own day in daily_totals. Wallet '' is all wallets, day -infinity all days.
create table reports.payment_totals (
  mint text not null,
  wallet text not null,
  day date not null,
  endpoint text not null,
  payments bigint not null,
  received numeric(38, 0) not null,
  burned numeric(38, 0) not null,
  burn_owed numeric(38, 0) not null,
  lost numeric(38, 0) not null,
  unearned numeric(38, 0) not null,
  owed numeric(38, 0) not null,
  shares jsonb not null,
  constraint payment_totals_one_row_each primary key (mint, wallet, day, endpoint)
) with (fillfactor = 80);

-- One row per debt that a payout paid. A payout pays accounts, not payments, so it is in no row of reports.payments.
create table reports.payouts (
  seq bigint not null,
  line integer not null,
  mint text not null,
  reference text not null,
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
