-- Adds the payments verified in a range of positions to the price of their day. A closed month keeps its prices.
create or replace function reports.list_prices(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into reports.day_prices as known (mint, day, price_micro_usd, required, payments)
  select p.mint, (e.effective_at at time zone 'UTC')::date, sum(p.price_micro_usd), sum(p.required), count(*)
  from ledger.events e
  join reports.payments p on p.stream = e.stream
  where e.seq > from_seq and e.seq <= to_seq and e.kind = 'PaymentVerified'
    and e.recorded_at < reports.month_closed_at(e.effective_at) and p.price_micro_usd > 0 and p.required > 0
  group by p.mint, (e.effective_at at time zone 'UTC')::date
  on conflict (mint, day) do update set
    price_micro_usd = known.price_micro_usd + excluded.price_micro_usd, required = known.required + excluded.required,
    payments = known.payments + excluded.payments;
end
$$;

revoke execute on function reports.list_prices from public;
