-- For the owner, when the reports are in doubt: empties every table of this schema. The next roll-ups fill them again.
create or replace function reports.reset() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from reports.progress where one for update;
  truncate reports.payments, reports.payouts, reports.refunds, reports.daily_totals, reports.wallet_totals, reports.payment_totals,
    reports.late_entries, reports.day_prices;
  update reports.progress set upto_seq = 0 where one;
end
$$;

revoke execute on function reports.reset from public;
