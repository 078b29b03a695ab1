-- Adds the entries of a range of positions to every sum they belong to.
create or replace function reports.add_entries(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  with posted as materialized (
    select e.* from reports.posted e
    where e.seq > from_seq and e.seq <= to_seq
  ),
  -- Each payment counts once, and no longer when it is reversed; on the day it was paid, as its burn does.
  counted as materialized (
    select p.stream, p.mint, p.endpoint, (p.paid_at at time zone 'UTC')::date as day,
      count(*) filter (where e.kind = 'PaymentVerified') - count(*) filter (where e.kind = 'PaymentReversed') as payments
    from ledger.events e
    join reports.payments p on p.stream = e.stream
    where e.seq > from_seq and e.seq <= to_seq and e.kind in ('PaymentVerified', 'PaymentReversed')
    group by p.stream
  ),
  move_days as (
    insert into reports.daily_totals as known (mint, day, kind, endpoint, account, debits, credits, payments, value_pico_usd)
    select m.mint, s.day, m.kind, m.endpoint, m.account, sum(greatest(m.amount, 0)), sum(greatest(-m.amount, 0)), sum(m.payments),
      sum(m.value)
    from (
      select p.mint, p.day, p.kind, p.endpoint, p.account, p.amount, 0 as payments, p.value from posted p
      union all
      select c.mint, c.day, 'payment', c.endpoint, 'Assets:PaymentWallet', 0, c.payments, 0 from counted c
    ) m
    cross join lateral (values (m.day), ('-infinity'::date)) as s (day)
    group by m.mint, s.day, m.kind, m.endpoint, m.account
    on conflict (mint, day, kind, endpoint, account) do update set
      debits = known.debits + excluded.debits, credits = known.credits + excluded.credits,
      payments = known.payments + excluded.payments, value_pico_usd = known.value_pico_usd + excluded.value_pico_usd
  ),
  note_late as (
    insert into reports.late_entries (seq, mint, day, kind, endpoint, account, debits, credits, value_pico_usd)
    select p.seq, p.mint, p.day, p.kind, p.endpoint, p.account, sum(greatest(p.amount, 0)), sum(greatest(-p.amount, 0)), sum(p.value)
    from posted p
    where p.is_late
    group by p.seq, p.mint, p.day, p.kind, p.endpoint, p.account
  ),
  -- Of payments: one row per payment, day and share; then one row per payment and day.
  shared as materialized (
    select p.stream, p.day, p.share, -sum(p.amount) as amount
    from posted p
    where p.is_payment and p.share is not null
    group by p.stream, p.day, p.share
  ),
  net as materialized (
    select p.stream, p.day, 0::bigint as payments,
      coalesce(sum(p.amount) filter (where p.account = 'Assets:PaymentWallet'), 0) as received,
      coalesce(sum(p.amount) filter (where p.account = 'Expenses:Burned'), 0) as burned,
      coalesce(-sum(p.amount) filter (where p.account = 'Liabilities:BurnOwed'), 0) as burn_owed,
      coalesce(sum(p.amount) filter (where p.account = 'Expenses:ReversedPayments'), 0) as lost,
      coalesce(-sum(p.amount) filter (where p.account = 'Liabilities:Unearned'), 0) as unearned,
      coalesce(-sum(p.amount) filter (where p.account like 'Liabilities:%' and p.share is null
        and p.account not in ('Liabilities:Unearned', 'Liabilities:BurnOwed')), 0) as owed
    from posted p
    where p.is_payment
    group by p.stream, p.day
    union all
    select c.stream, c.day, c.payments, 0, 0, 0, 0, 0, 0 from counted c
  ),
  wallet_shares as (
    select k.mint, k.wallet, k.day, jsonb_object_agg(k.share, k.amount) as shares
    from (
      select p.mint, p.wallet, s.day, s.share, sum(s.amount) as amount
      from shared s
      join reports.payments p on p.stream = s.stream
      group by p.mint, p.wallet, s.day, s.share
    ) k
    group by k.mint, k.wallet, k.day
  ),
  move_wallets as (
    insert into reports.wallet_totals as known (mint, wallet, day, payments, received, burned, burn_owed, lost, shares)
    select w.mint, w.wallet, w.day, w.payments, w.received, w.burned, w.burn_owed, w.lost, coalesce(s.shares, '{}')
    from (
      select p.mint, p.wallet, n.day, sum(n.payments) as payments, sum(n.received) as received, sum(n.burned) as burned,
        sum(n.burn_owed) as burn_owed, sum(n.lost) as lost
      from net n
      join reports.payments p on p.stream = n.stream
      group by p.mint, p.wallet, n.day
    ) w
    left join wallet_shares s on s.mint = w.mint and s.wallet = w.wallet and s.day = w.day
    on conflict (mint, wallet, day) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed,
      lost = known.lost + excluded.lost, shares = reports.add_shares(known.shares, excluded.shares)
  ),
  -- Each payment belongs to three sums: its wallet on its day, all wallets on its day, and all days.
  keyed as materialized (
    select p.stream, p.mint, p.endpoint, k.wallet, k.day
    from reports.payments p
    cross join lateral (select (p.paid_at at time zone 'UTC')::date as day) paid
    cross join lateral (values ('', paid.day), ('', '-infinity'::date), (p.wallet, paid.day)) as k (wallet, day)
    where p.stream in (select n.stream from net n)
  ),
  total_shares as (
    select t.mint, t.wallet, t.day, t.endpoint, jsonb_object_agg(t.share, t.amount) as shares
    from (
      select k.mint, k.wallet, k.day, k.endpoint, s.share, sum(s.amount) as amount
      from shared s
      join keyed k on k.stream = s.stream
      group by k.mint, k.wallet, k.day, k.endpoint, s.share
    ) t
    group by t.mint, t.wallet, t.day, t.endpoint
  ),
  move_totals as (
    insert into reports.payment_totals as known (
      mint, wallet, day, endpoint, payments, received, burned, burn_owed, lost, unearned, owed, shares)
    select t.mint, t.wallet, t.day, t.endpoint, t.payments, t.received, t.burned, t.burn_owed, t.lost, t.unearned, t.owed,
      coalesce(s.shares, '{}')
    from (
      select k.mint, k.wallet, k.day, k.endpoint, sum(n.payments) as payments, sum(n.received) as received,
        sum(n.burned) as burned, sum(n.burn_owed) as burn_owed, sum(n.lost) as lost, sum(n.unearned) as unearned,
        sum(n.owed) as owed
      from net n
      join keyed k on k.stream = n.stream
      group by k.mint, k.wallet, k.day, k.endpoint
    ) t
    left join total_shares s on s.mint = t.mint and s.wallet = t.wallet and s.day = t.day and s.endpoint = t.endpoint
    on conflict (mint, wallet, day, endpoint) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed,
      lost = known.lost + excluded.lost, unearned = known.unearned + excluded.unearned, owed = known.owed + excluded.owed,
      shares = reports.add_shares(known.shares, excluded.shares)
  )
  update reports.payments p
  set received = p.received + w.received, burned = p.burned + w.burned, burn_owed = p.burn_owed + w.burn_owed,
    lost = p.lost + w.lost, unearned = p.unearned + w.unearned, owed = p.owed + w.owed,
    shares = reports.add_shares(p.shares, coalesce(s.shares, '{}'))
  from (
    select n.stream, sum(n.received) as received, sum(n.burned) as burned, sum(n.burn_owed) as burn_owed,
      sum(n.lost) as lost, sum(n.unearned) as unearned, sum(n.owed) as owed
    from net n
    group by n.stream
  ) w
  left join (
    select k.stream, jsonb_object_agg(k.share, k.amount) as shares
    from (select s.stream, s.share, sum(s.amount) as amount from shared s group by s.stream, s.share) k
    group by k.stream
  ) s on s.stream = w.stream
  where p.stream = w.stream;
end
$$;

revoke execute on function reports.add_entries from public;
