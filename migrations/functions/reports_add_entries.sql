-- Adds the entries of a range of positions to every sum they belong to. Memo accounts are not money and are left out.
create or replace function reports.add_entries(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  with posted as materialized (
    select e.stream, s.kind, (e.effective_at at time zone 'UTC')::date as day, a.mint, side.amount,
      case when starts_with(a.name, 'Expenses:Burned:') then substr(a.name, 17) else coalesce(p.endpoint, '') end as endpoint,
      case when starts_with(a.name, 'Liabilities:Share:') then a.name
        else split_part(a.name, ':', 1) || ':' || split_part(a.name, ':', 2) end as account,
      case when starts_with(a.name, 'Liabilities:Share:') then substr(a.name, 19) end as share,
      p.stream is not null as is_payment
    from ledger.events e
    cross join lateral unnest(e.debits, e.credits, e.amounts) as t (debit, credit, amount)
    cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) as side (account, amount)
    join ledger.accounts a on a.id = side.account and not starts_with(a.name, 'Memo:')
    join ledger.streams s on s.stream = e.stream
    left join reports.payments p on p.stream = e.stream
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
    insert into reports.daily_totals as known (mint, day, kind, endpoint, account, debits, credits, payments)
    select m.mint, s.day, m.kind, m.endpoint, m.account, sum(greatest(m.amount, 0)), sum(greatest(-m.amount, 0)), sum(m.payments)
    from (
      select p.mint, p.day, p.kind, p.endpoint, p.account, p.amount, 0 as payments from posted p
      union all
      select c.mint, c.day, 'payment', c.endpoint, 'Assets:PaymentWallet', 0, c.payments from counted c
    ) m
    cross join lateral (values (m.day), ('-infinity'::date)) as s (day)
    group by m.mint, s.day, m.kind, m.endpoint, m.account
    on conflict (mint, day, kind, endpoint, account) do update set
      debits = known.debits + excluded.debits, credits = known.credits + excluded.credits,
      payments = known.payments + excluded.payments
  ),
  -- One row per payment and day.
  net as materialized (
    select l.stream, l.day, 0::bigint as payments,
      coalesce(sum(l.amount) filter (where l.account = 'Assets:PaymentWallet'), 0) as received,
      coalesce(sum(l.amount) filter (where l.account = 'Expenses:Burned'), 0) as burned,
      coalesce(-sum(l.amount) filter (where l.account = 'Liabilities:BurnOwed'), 0) as burn_owed,
      coalesce(sum(l.amount) filter (where l.account = 'Expenses:ReversedPayments'), 0) as lost,
      coalesce(-sum(l.amount) filter (where l.account = 'Liabilities:Unearned'), 0) as unearned,
      coalesce(-sum(l.amount) filter (where l.account like 'Liabilities:%' and l.share is null
        and l.account not in ('Liabilities:Unearned', 'Liabilities:BurnOwed')), 0) as owed,
      coalesce(jsonb_object_agg(l.share, -l.amount) filter (where l.share is not null), '{}') as shares
    from (
      select p.stream, p.day, p.account, p.share, sum(p.amount) as amount
      from posted p
      where p.is_payment
      group by p.stream, p.day, p.account, p.share
    ) l
    group by l.stream, l.day
    union all
    select c.stream, c.day, c.payments, 0, 0, 0, 0, 0, 0, '{}' from counted c
  ),
  move_wallets as (
    insert into reports.wallet_totals as known (mint, wallet, day, payments, received, burned, burn_owed, lost, shares)
    select p.mint, p.wallet, n.day, sum(n.payments), sum(n.received), sum(n.burned), sum(n.burn_owed), sum(n.lost),
      reports.sum_shares(n.shares)
    from net n
    join reports.payments p on p.stream = n.stream
    group by p.mint, p.wallet, n.day
    on conflict (mint, wallet, day) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed,
      lost = known.lost + excluded.lost, shares = reports.add_shares(known.shares, excluded.shares)
  ),
  whole as materialized (
    select n.stream, sum(n.payments) as payments, sum(n.received) as received, sum(n.burned) as burned,
      sum(n.burn_owed) as burn_owed, sum(n.lost) as lost, sum(n.unearned) as unearned, sum(n.owed) as owed,
      reports.sum_shares(n.shares) as shares
    from net n
    group by n.stream
  ),
  move_totals as (
    insert into reports.payment_totals as known (
      mint, wallet, day, endpoint, payments, received, burned, burn_owed, lost, unearned, owed, shares)
    select p.mint, s.wallet, s.day, p.endpoint, sum(w.payments), sum(w.received), sum(w.burned), sum(w.burn_owed), sum(w.lost),
      sum(w.unearned), sum(w.owed), reports.sum_shares(w.shares)
    from whole w
    join reports.payments p on p.stream = w.stream
    cross join lateral (select (p.paid_at at time zone 'UTC')::date as day) paid
    cross join lateral (values ('', paid.day), ('', '-infinity'::date), (p.wallet, paid.day)) as s (wallet, day)
    group by p.mint, s.wallet, s.day, p.endpoint
    on conflict (mint, wallet, day, endpoint) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed,
      lost = known.lost + excluded.lost, unearned = known.unearned + excluded.unearned, owed = known.owed + excluded.owed,
      shares = reports.add_shares(known.shares, excluded.shares)
  )
  update reports.payments p
  set received = p.received + w.received, burned = p.burned + w.burned, burn_owed = p.burn_owed + w.burn_owed,
    lost = p.lost + w.lost, unearned = p.unearned + w.unearned, owed = p.owed + w.owed,
    shares = reports.add_shares(p.shares, w.shares)
  from whole w
  where p.stream = w.stream;
end
$$;

revoke execute on function reports.add_entries from public;
