-- The time of the ledger after an append at `ledger_time`, when the clock of the database was `clock_before`. It never goes
-- back, and it never stands still: after the clock went back it runs at half speed until the clock has caught up. Standing
-- still it would keep every lease from ending for as long.
create or replace function ledger.next_time(
  ledger_time timestamptz, clock_before timestamptz, out next_time timestamptz, out clock timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  passed interval;
begin
  clock := date_trunc('milliseconds', clock_timestamp());
  next_time := clock;
  if ledger_time > clock then
    passed := clock - least(clock_before, clock);
    -- Less than two milliseconds are left to the next append, or the time would stand still under load.
    if passed < interval '2 milliseconds' then
      clock := least(clock_before, clock);
      passed := interval '0';
    end if;
    next_time := ledger_time + date_trunc('milliseconds', passed / 2);
  end if;
end
$$;
