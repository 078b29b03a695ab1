-- Adds one row for each debt that was approved, and each refund that was granted, in a range of positions.
create or replace function reports.list_refunds(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into reports.refunds (seq, line, mint, reference, wallet, kind, account, amount, decided_by, role, login, reason, decided_at)
  select e.seq, d.line, e.body ->> 'mint', e.body ->> 'payment', e.body ->> 'wallet', e.kind, d.debt ->> 'account',
    (d.debt ->> 'baseUnits')::numeric, e.body ->> 'by', e.body ->> 'role', e.body ->> 'login', e.body ->> 'reason', e.recorded_at
  from (
    select e.seq, e.kind, e.recorded_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind in ('RefundApproved', 'RefundGranted')
    offset 0
  ) e
  cross join lateral jsonb_array_elements(case when e.kind = 'RefundApproved' then e.body -> 'debts' else jsonb_build_array(
    jsonb_build_object('account', 'Liabilities:RefundsDue:' || (e.body ->> 'wallet'), 'baseUnits', e.body ->> 'amountBaseUnits')) end)
    with ordinality as d (debt, line);
end
$$;

revoke execute on function reports.list_refunds from public;
