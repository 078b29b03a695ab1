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

-- One row for each payment, with the net of all its entries: received = unearned + provider + holders + treasury + owed.
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
  constraint wallet_totals_one_row_each primary key (mint, wallet, day)
) with (fillfactor = 80);

-- Rolls up the next events, so many at most, and says how many there were. Returns at once when another session is at it.
create function reports.roll_up(events_max integer) returns bigint
language plpgsql
security definer
set search_path = ''
set jit = off
-- How much there is to do differs from call to call; a plan made for one event is not one for ten thousand.
set plan_cache_mode = force_custom_plan
as $$
declare
  from_seq bigint;
  to_seq bigint;
begin
  select p.upto_seq into from_seq from reports.progress p where p.one for update skip locked;
  if not found then
    return 0;
  end if;
  -- Positions are given under one lock that is held to the commit: up to the head nothing is missing and nothing will come.
  select least(h.seq, from_seq + events_max) into strict to_seq from ledger.head h where h.one;
  if to_seq <= from_seq then
    return 0;
  end if;

  insert into reports.payments (signature, seq, wallet, endpoint, state, paid_at)
  select e.stream, e.seq, e.body ->> 'wallet', e.body ->> 'endpoint', 'submitted', e.effective_at
  from (
    select e.stream, e.seq, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'PaymentSubmitted'
  ) e
  on conflict (signature) do nothing;

  insert into reports.payments as known (
    signature, seq, wallet, endpoint, mint, state, paid_at, slot, price_micro_usd, required)
  select e.stream, e.seq, e.settlement ->> 'wallet', e.settlement -> 'price' ->> 'endpoint', e.settlement -> 'price' ->> 'mint',
    'verified', e.effective_at, (e.settlement ->> 'slot')::bigint, (e.settlement -> 'price' ->> 'priceMicroUsd')::bigint,
    (e.settlement -> 'price' ->> 'requiredBaseUnits')::numeric
  from (
    select e.stream, e.seq, e.effective_at, convert_from(e.body, 'UTF8')::jsonb -> 'settlement' as settlement
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'PaymentVerified'
  ) e
  on conflict (signature) do update set
    wallet = excluded.wallet, endpoint = excluded.endpoint, mint = excluded.mint, state = excluded.state,
    paid_at = excluded.paid_at, slot = excluded.slot, price_micro_usd = excluded.price_micro_usd, required = excluded.required;

  update reports.payments p
  set state = coalesce(moved.state, p.state), attempts = p.attempts + moved.claims,
    fulfilled_at = coalesce(moved.fulfilled_at, p.fulfilled_at), finalized_at = coalesce(moved.finalized_at, p.finalized_at)
  from (
    select e.stream, count(*) filter (where e.kind = 'ProofClaimed') as claims,
      max(e.recorded_at) filter (where e.kind = 'RequestFulfilled') as fulfilled_at,
      max(e.recorded_at) filter (where e.kind = 'PaymentFinalized') as finalized_at,
      (array_agg(
        case e.kind
          when 'ProofClaimed' then 'claimed'
          when 'RequestFulfilled' then 'fulfilled'
          when 'RequestFailed' then 'released'
          when 'RefundDue' then 'refund_due'
          when 'TransferReceived' then 'unmatched'
          when 'PaymentReversed' then 'reversed'
        end
        order by e.seq desc) filter (where e.kind <> 'PaymentFinalized'))[1] as state
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq
      and e.kind in ('ProofClaimed', 'RequestFulfilled', 'RequestFailed', 'RefundDue', 'TransferReceived', 'PaymentFinalized', 'PaymentReversed')
    group by e.stream
  ) moved
  where p.signature = moved.stream;

  with posted as materialized (
    select e.stream, (e.effective_at at time zone 'UTC')::date as day, p.endpoint, p.wallet, t.mint, t.account, t.amount,
      split_part(t.account, ':', 1) || ':' || split_part(t.account, ':', 2) as kind
    from ledger.entries t
    join ledger.events e on e.seq = t.seq
    left join reports.payments p on p.signature = e.stream
    where t.seq > from_seq and t.seq <= to_seq and e.seq > from_seq and e.seq <= to_seq
  ),
  move_days as (
    insert into reports.daily_totals as known (
      mint, day, endpoint, account, debits, credits, debit_entries, credit_entries)
    select p.mint, s.day, coalesce(p.endpoint, ''), p.kind, sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0)),
      count(*) filter (where p.amount > 0), count(*) filter (where p.amount < 0)
    from posted p
    cross join lateral (values (p.day), ('-infinity'::date)) as s (day)
    group by p.mint, s.day, coalesce(p.endpoint, ''), p.kind
    on conflict (mint, day, endpoint, account) do update set
      debits = known.debits + excluded.debits, credits = known.credits + excluded.credits,
      debit_entries = known.debit_entries + excluded.debit_entries, credit_entries = known.credit_entries + excluded.credit_entries
  ),
  move_wallets as (
    insert into reports.wallet_totals as known (mint, wallet, day, payments, received, burned, provider, holders, treasury)
    select p.mint, p.wallet, p.day,
      count(*) filter (where p.kind = 'Expenses:Burned' and p.amount > 0),
      coalesce(sum(p.amount) filter (where p.kind = 'Assets:PaymentWallet'), 0),
      coalesce(sum(p.amount) filter (where p.kind = 'Expenses:Burned'), 0),
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Provider'), 0),
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Holders'), 0),
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Treasury'), 0)
    from posted p
    where p.wallet is not null
    group by p.mint, p.wallet, p.day
    on conflict (mint, wallet, day) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, provider = known.provider + excluded.provider,
      holders = known.holders + excluded.holders, treasury = known.treasury + excluded.treasury
  ),
  net as materialized (
    select p.stream,
      coalesce(sum(p.amount) filter (where p.kind = 'Assets:PaymentWallet'), 0) as received,
      coalesce(sum(p.amount) filter (where p.kind = 'Expenses:Burned'), 0) as burned,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Unearned'), 0) as unearned,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Provider'), 0) as provider,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Holders'), 0) as holders,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Treasury'), 0) as treasury,
      coalesce(-sum(p.amount) filter (where p.account like 'Liabilities:%' and p.kind not in (
        'Liabilities:Unearned', 'Liabilities:Provider', 'Liabilities:Holders', 'Liabilities:Treasury')), 0) as owed
    from posted p
    where p.wallet is not null
    group by p.stream
  )
  update reports.payments p
  set received = p.received + net.received, burned = p.burned + net.burned, unearned = p.unearned + net.unearned,
    provider = p.provider + net.provider, holders = p.holders + net.holders, treasury = p.treasury + net.treasury,
    owed = p.owed + net.owed
  from net
  where p.signature = net.stream;

  update reports.progress set upto_seq = to_seq where one;
  return to_seq - from_seq;
end
$$;

-- For the owner, should a roll-up ever be in doubt: forgets everything here. The next roll-ups derive it again.
create function reports.start_anew() returns void
language plpgsql
set search_path = ''
as $$
begin
  perform from reports.progress where one for update;
  truncate reports.payments, reports.daily_totals, reports.wallet_totals;
  update reports.progress set upto_seq = 0 where one;
end
$$;

grant select on reports.progress, reports.payments, reports.daily_totals, reports.wallet_totals to tollbook_service, tollbook_reader;
revoke execute on all functions in schema reports from public;
grant execute on function reports.roll_up to tollbook_service;
