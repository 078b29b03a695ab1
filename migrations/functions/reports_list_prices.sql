-- Adds the payments verified in a range of positions to the price of their day.
create or replace function reports.list_prices(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into reports.day_prices as known (mint, day, price_micro_usd, required, payments)
  select p.mint, p.day, sum(p.price_micro_usd), sum(p.required), count(*)
  from reports.pricing_payments p
  where p.seq > from_seq and p.seq <= to_seq
  group by p.mint, p.day
  on conflict (mint, day) do update set
    price_micro_usd = known.price_micro_usd + excluded.price_micro_usd, required = known.required + excluded.required,
    payments = known.payments + excluded.payments;
end
$$;

revoke execute on function reports.list_prices from public;
