-- The entries of events as the reports sum them up: one row per side of a posting, debits positive. Memo accounts are not money
-- and are left out. A closing statement subtracts the range that is not sealed. reports.add_events adds the same amounts.
create or replace view reports.posted as
select e.seq, e.stream, s.kind, (e.effective_at at time zone 'UTC')::date as day, a.mint, side.amount,
  e.recorded_at >= reports.month_closed_at(e.effective_at) as is_late,
  case when starts_with(a.name, 'Expenses:Burned:') then substr(a.name, 17) else coalesce(p.endpoint, '') end as endpoint,
  case when starts_with(a.name, 'Liabilities:Share:') then a.name
    else split_part(a.name, ':', 1) || ':' || split_part(a.name, ':', 2) end as account,
  case when starts_with(a.name, 'Liabilities:Share:') then substr(a.name, 19) end as share,
  -- The burn in tokens that a sale in dollars owes is not an amount of its payment.
  coalesce(p.mint = a.mint, false) as is_payment,
  -- Computed for each entry, so that ranges of positions add up; div drops what is less than 10^-12 dollars.
  case when p.mint = a.mint then coalesce(div(side.amount * p.price_micro_usd * 1000000, p.required), 0) else 0 end as value
from ledger.events e
cross join lateral unnest(e.debits, e.credits, e.amounts) as t (debit, credit, amount)
cross join lateral (values (t.debit, t.amount), (t.credit, -t.amount)) as side (account, amount)
join ledger.accounts a on a.id = side.account and not starts_with(a.name, 'Memo:')
join ledger.streams s on s.stream = e.stream
left join reports.payments p on p.stream = e.stream;

-- Payments that give their day a price: verified before the close of their month. A closed month keeps its prices.
create or replace view reports.pricing_payments as
select e.seq, p.mint, (e.effective_at at time zone 'UTC')::date as day, p.price_micro_usd, p.required
from ledger.events e
join reports.payments p on p.stream = e.stream
where e.kind = 'PaymentVerified' and e.recorded_at < reports.month_closed_at(e.effective_at)
  and p.price_micro_usd > 0 and p.required > 0;

grant select on reports.posted, reports.pricing_payments to tollbook_service, tollbook_reader;
