-- For the payout role. It takes only the body of one DistributionPaid: the postings are made from it, so the two cannot
-- disagree. No debt is paid below zero (the ceiling of its account): of two payouts of one debt the second is refused.
-- A signature is recorded once; recording it again returns where it is.
create or replace function ledger.record_payout(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(record_payout.body, 'UTF8')::jsonb;
  stream_id constant bytea := '\x01'::bytea || ledger.base58_bytes(said ->> 'signature');
  paid record;
  appended record;
begin
  if said ->> 'kind' is distinct from 'DistributionPaid' or said ->> 'version' is distinct from '1'
    or said ->> 'schemaVersion' is distinct from '1'
    or said ->> 'stream' is distinct from 'solana:' || (said ->> 'signature')
    or octet_length(stream_id) is distinct from 65 or jsonb_array_length(said -> 'payments') = 0
    -- Members that the reports and later payouts read, which would stop at a value that they cannot read.
    or jsonb_typeof(said -> 'planId') is distinct from 'string' or (said ->> 'part' ~ '^[1-9][0-9]{0,8}$') is not true
    or exists (
      select from jsonb_array_elements(said -> 'payments') p where (p ->> 'wallet' ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$') is not true) then
    raise exception 'the body is not a DistributionPaid' using errcode = 'check_violation';
  end if;
  select array_agg(p.part ->> 'account' order by p.n) as accounts, array_agg((p.part ->> 'paidBaseUnits')::numeric order by p.n) as amounts
    into strict paid
    from jsonb_array_elements(said -> 'payments') with ordinality as p (part, n);
  if 'Liabilities:Unmatched:unknown' = any(paid.accounts) then
    raise exception 'tokens of an unknown sender are not paid out' using errcode = 'check_violation';
  end if;

  select t.* into strict appended from ledger.append_one(
    'payout', 'payout.record', stream_id, 0, record_payout.body, said ->> 'mint', paid.accounts,
    array_fill('Assets:PaymentWallet'::text, array[cardinality(paid.accounts)]), paid.amounts) t;
  if appended.refusal = 'conflict' then
    return query
    select null::text, e.seq, e.leaf_hash, e.recorded_at
    from ledger.read(stream_id) e
    where e.kind = 'DistributionPaid';
    if found then
      return;
    end if;
  end if;
  return query select
    case when appended.refusal like 'limit %' then 'more_than_owed' else appended.refusal end,
    appended.seq, appended.leaf_hash, appended.recorded_at;
end
$$;
grant execute on function ledger.record_payout to tollbook_payout;
