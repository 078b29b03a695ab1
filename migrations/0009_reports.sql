-- Why: a report over a range of days must cost the same for a thousand payments and for a million. reports.roll_up follows
-- the log by position in the background, so appends do not know of reports. Every table here is derived from the ledger:
-- reports.reset() empties them, and the next roll-ups fill them again with the same rows.

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
  -- The id of the receipt: the first 16 bytes of the leaf hash of the delivery.
  receipt bytea,
  constraint payments_one_row_each primary key (stream),
  constraint payments_reference_is_unique unique (reference)
) with (fillfactor = 80);
create index payments_by_time on reports.payments (paid_at, stream);
create index payments_by_endpoint on reports.payments (endpoint, paid_at, stream);
create index payments_by_wallet on reports.payments (wallet, paid_at, stream);
-- Nearly all payments are fulfilled; finance looks for the few that are not.
create index payments_unsettled on reports.payments (state, paid_at, stream) where state <> 'fulfilled';
create index payments_unsettled_by_wallet on reports.payments (wallet, state, paid_at, stream) where state <> 'fulfilled';
create index payments_unsettled_by_endpoint on reports.payments (endpoint, state, paid_at, stream) where state <> 'fulfilled';
-- Nearly no payment leaves a debt to its wallet.
create index payments_owed on reports.payments (paid_at, stream) where owed > 0;
create index payments_owed_by_wallet on reports.payments (wallet, paid_at, stream) where owed > 0;
create index payments_by_receipt on reports.payments (receipt) where receipt is not null;

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
  -- Debits less credits in 10^-12 dollars, at the price that the payment was quoted. 0 for streams without a quote.
  value_pico_usd numeric(38, 0) not null,
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

-- One row for each debt that was approved, and for each refund that was granted by hand.
create table reports.refunds (
  seq bigint not null,
  line integer not null,
  mint text not null,
  -- Reference of the payment.
  reference text not null,
  wallet text not null,
  kind text not null,
  account text not null,
  amount numeric(38, 0) not null,
  decided_by text not null,
  role text not null,
  login text not null,
  reason text not null,
  decided_at timestamptz not null,
  constraint refunds_one_row_each primary key (seq, line)
);
create index refunds_by_account on reports.refunds (account, seq, line);
create index refunds_by_reference on reports.refunds (reference, seq, line);
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

grant select on
  reports.progress, reports.payments, reports.daily_totals, reports.wallet_totals, reports.payment_totals, reports.payouts,
  reports.refunds, reports.late_entries, reports.day_prices
  to tollbook_service, tollbook_reader;
