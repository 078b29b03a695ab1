-- Makes the rows that the events of a range begin, and brings their states up to date.
create or replace function reports.list_payments(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
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

  -- Mostly the first event of its payment. Otherwise it was only submitted, or it was reversed and landed after all.
  insert into reports.payments as known (signature, seq, wallet, endpoint, mint, state, paid_at, slot)
  select e.stream, e.seq, coalesce(e.body ->> 'wallet', 'unknown'), 'unmatched', e.body ->> 'mint', 'unmatched',
    e.effective_at, (e.body ->> 'slot')::bigint
  from (
    select e.stream, e.seq, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'TransferReceived'
  ) e
  on conflict (signature) do update set mint = excluded.mint, slot = excluded.slot;

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
end
$$;

create or replace function reports.list_payouts(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into reports.payouts (seq, line, mint, signature, plan_id, part, account, wallet, amount, paid_at)
  select e.seq, p.line, e.body ->> 'mint', e.body ->> 'signature', e.body ->> 'planId', (e.body ->> 'part')::integer,
    p.paid ->> 'account', p.paid ->> 'wallet', (p.paid ->> 'paidBaseUnits')::numeric, e.effective_at
  from (
    select e.seq, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'DistributionPaid'
  ) e
  cross join lateral jsonb_array_elements(e.body -> 'payments') with ordinality as p (paid, line);
end
$$;

-- Adds the entries of a range to every sum that they belong to. What has no row among the payments is a payout.
create or replace function reports.add_entries(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  with posted as materialized (
    select e.stream, (e.effective_at at time zone 'UTC')::date as day, p.endpoint, p.wallet,
      (p.paid_at at time zone 'UTC')::date as paid_on, t.mint, t.amount,
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
  -- Of one payment on one day. Each burns once, and takes that back when it is reversed.
  net as materialized (
    select p.stream, p.mint, p.day, p.endpoint, p.wallet, p.paid_on,
      count(*) filter (where p.kind = 'Expenses:Burned' and p.amount > 0)
        - count(*) filter (where p.kind = 'Expenses:Burned' and p.amount < 0) as payments,
      coalesce(sum(p.amount) filter (where p.kind = 'Assets:PaymentWallet'), 0) as received,
      coalesce(sum(p.amount) filter (where p.kind = 'Expenses:Burned'), 0) as burned,
      coalesce(sum(p.amount) filter (where p.kind = 'Expenses:ReversedPayments'), 0) as lost,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Unearned'), 0) as unearned,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Provider'), 0) as provider,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Holders'), 0) as holders,
      coalesce(-sum(p.amount) filter (where p.kind = 'Liabilities:Treasury'), 0) as treasury,
      coalesce(-sum(p.amount) filter (where p.kind like 'Liabilities:%' and p.kind not in (
        'Liabilities:Unearned', 'Liabilities:Provider', 'Liabilities:Holders', 'Liabilities:Treasury')), 0) as owed
    from posted p
    where p.wallet is not null
    group by p.stream, p.mint, p.day, p.endpoint, p.wallet, p.paid_on
  ),
  move_wallets as (
    insert into reports.wallet_totals as known (mint, wallet, day, payments, received, burned, lost, provider, holders, treasury)
    select n.mint, n.wallet, n.day, sum(n.payments), sum(n.received), sum(n.burned), sum(n.lost), sum(n.provider),
      sum(n.holders), sum(n.treasury)
    from net n
    group by n.mint, n.wallet, n.day
    on conflict (mint, wallet, day) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, lost = known.lost + excluded.lost, provider = known.provider + excluded.provider,
      holders = known.holders + excluded.holders, treasury = known.treasury + excluded.treasury
  ),
  move_totals as (
    insert into reports.payment_totals as known (
      mint, wallet, day, endpoint, payments, received, burned, lost, unearned, provider, holders, treasury, owed)
    select n.mint, s.wallet, s.day, n.endpoint, sum(n.payments), sum(n.received), sum(n.burned), sum(n.lost), sum(n.unearned),
      sum(n.provider), sum(n.holders), sum(n.treasury), sum(n.owed)
    from net n
    cross join lateral (values ('', n.paid_on), ('', '-infinity'::date), (n.wallet, n.paid_on)) as s (wallet, day)
    group by n.mint, s.wallet, s.day, n.endpoint
    on conflict (mint, wallet, day, endpoint) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, lost = known.lost + excluded.lost, unearned = known.unearned + excluded.unearned,
      provider = known.provider + excluded.provider, holders = known.holders + excluded.holders,
      treasury = known.treasury + excluded.treasury, owed = known.owed + excluded.owed
  )
  update reports.payments p
  set received = p.received + n.received, burned = p.burned + n.burned, lost = p.lost + n.lost, unearned = p.unearned + n.unearned,
    provider = p.provider + n.provider, holders = p.holders + n.holders, treasury = p.treasury + n.treasury,
    owed = p.owed + n.owed
  from (
    select n.stream, sum(n.received) as received, sum(n.burned) as burned, sum(n.lost) as lost, sum(n.unearned) as unearned,
      sum(n.provider) as provider, sum(n.holders) as holders, sum(n.treasury) as treasury, sum(n.owed) as owed
    from net n
    group by n.stream
  ) n
  where p.signature = n.stream;
end
$$;

-- Rolls up the next events, so many at most, and says how many there were. Returns at once when another session is at it.
create or replace function reports.roll_up(events_max integer) returns bigint
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
  perform reports.list_payments(from_seq, to_seq);
  perform reports.list_payouts(from_seq, to_seq);
  perform reports.add_entries(from_seq, to_seq);
  update reports.progress set upto_seq = to_seq where one;
  return to_seq - from_seq;
end
$$;

create or replace function reports.start_anew() returns void
language plpgsql
set search_path = ''
as $$
begin
  perform from reports.progress where one for update;
  truncate reports.payments, reports.payouts, reports.daily_totals, reports.wallet_totals, reports.payment_totals;
  update reports.progress set upto_seq = 0 where one;
end
$$;

grant execute on function reports.roll_up to tollbook_service;
