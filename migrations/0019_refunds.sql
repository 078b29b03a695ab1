-- Why: a refund is approved or granted by a person, who is on record (docs/decisions/0040), and reports show dollars at the
-- quoted price with tokens. Both only add: release 0015 runs on this schema.
do $$
begin
  create role tollbook_finance nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;
-- A login of finance is a member of tollbook_reader too: it reads, and records refunds by functions.
grant usage on schema work to tollbook_reader;
grant select on work.presentations, work.open, work.progress to tollbook_reader;

alter table ledger.steps drop constraint steps_writer_is_known;
alter table ledger.steps add constraint steps_writer_is_known
  check (writer in ('service', 'payout', 'burner', 'operator', 'finance'));

-- One row for each debt that was approved, and for each refund that was granted by hand.
create table reports.refunds (
  seq bigint not null,
  line integer not null,
  mint text not null,
  -- Of the payment.
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
grant select on reports.refunds to tollbook_service, tollbook_reader;

-- Nearly no payment leaves a debt to its wallet.
create index payments_owed on reports.payments (paid_at, stream) where owed > 0;

-- Debits less credits in 10^-12 dollars, at the price that the payment was quoted. 0 for streams without a quote.
alter table reports.daily_totals add column value_pico_usd numeric(38, 0) not null default 0;
-- The next roll-ups fill the sums again, with their values.
truncate reports.payments, reports.payouts, reports.daily_totals, reports.wallet_totals, reports.payment_totals;
update reports.progress set upto_seq = 0 where one;
