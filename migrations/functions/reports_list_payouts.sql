-- Adds one row for each debt that the payouts of a range of positions paid.
create or replace function reports.list_payouts(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into reports.payouts (seq, line, mint, reference, plan_id, part, account, wallet, amount, paid_at)
  select e.seq, p.line, e.body ->> 'mint', e.body ->> 'stream', e.body ->> 'planId', (e.body ->> 'part')::integer,
    p.paid ->> 'account', p.paid ->> 'wallet', (p.paid ->> 'paidBaseUnits')::numeric, e.effective_at
  from (
    select e.seq, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'DistributionPaid'
    offset 0
  ) e
  cross join lateral jsonb_array_elements(e.body -> 'payments') with ordinality as p (paid, line);
end
$$;

revoke execute on function reports.list_payouts from public;
