-- For the payout role: the body of one HolderPayoutPlanned or HolderPayoutEnded. At most one plan of a mint is open, and it
-- divides no more than is owed, so no two plans can pay one debt. A plan is recorded once; recording it again returns where it is.
-- `judged` are the transactions of the plan that can no longer pay, or are on record: a plan does not end while it has another one.
drop function if exists ledger.record_holder_payout(bytea);
-- Releases before 0.3.0 call it without `judged`.
create or replace function ledger.record_holder_payout(body bytea, judged text[] default null)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(record_holder_payout.body, 'UTF8')::jsonb;
  plan constant text := said ->> 'planId';
  is_plan constant boolean := said ->> 'kind' = 'HolderPayoutPlanned';
  stream_id constant bytea := '\x05'::bytea || decode(substring(plan from '^payout_([0-9a-f]{32})$'), 'hex');
  planned bigint;
begin
  if (said ->> 'kind' in ('HolderPayoutPlanned', 'HolderPayoutEnded')) is not true
    or said ->> 'schemaVersion' is distinct from '1' or stream_id is null
    or said ->> 'stream' is distinct from 'holders:' || plan
    or said ->> 'version' is distinct from (case when is_plan then '1' else '2' end)
    or (case when is_plan
      then (said ->> 'account' ~ '^Liabilities:Share:[a-z][a-z0-9-]{0,31}$')
        and (said ->> 'amountBaseUnits' ~ '^[1-9][0-9]{0,19}$') and (said ->> 'snapshotSha256' ~ '^[0-9a-f]{64}$')
      else said ->> 'paidBaseUnits' ~ '^(0|[1-9][0-9]{0,19})$' end) is not true then
    raise exception 'the body is not a HolderPayoutPlanned or HolderPayoutEnded' using errcode = 'check_violation';
  end if;
  -- One at a time, so that the conditions below stay true until the append.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('tollbook holder payouts', 0));
  return query
  select null::text, e.seq, e.leaf_hash, e.recorded_at from ledger.read(stream_id) e where e.kind = said ->> 'kind';
  if found then
    return;
  end if;

  if is_plan then
    if exists (
      select from ledger.events p
      where p.kind = 'HolderPayoutPlanned' and convert_from(p.body, 'UTF8')::jsonb ->> 'mint' = said ->> 'mint'
        and not exists (select from ledger.events e where e.kind = 'HolderPayoutEnded' and e.stream = p.seq)) then
      return query select 'plan_open', null::bigint, null::bytea, null::timestamptz;
      return;
    end if;
    if not exists (
      select from ledger.accounts a
      where a.mint = said ->> 'mint' and a.name = said ->> 'account' and -a.balance >= (said ->> 'amountBaseUnits')::numeric) then
      return query select 'more_than_owed', null::bigint, null::bytea, null::timestamptz;
      return;
    end if;
  else
    select s.stream into planned from ledger.streams s where s.id = stream_id;
    if planned is null or (said ->> 'paidBaseUnits')::numeric is distinct from (
      select coalesce(sum((p.paid ->> 'paidBaseUnits')::numeric), 0)
      from ledger.events e
      cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as paid_out) b
      cross join lateral jsonb_array_elements(b.paid_out -> 'payments') as p (paid)
      where e.kind = 'DistributionPaid' and e.seq > planned and b.paid_out ->> 'planId' = plan) then
      raise exception 'the plan is not on record, or has paid another amount' using errcode = 'check_violation';
    end if;
    if exists (select from work.payout_attempts a where a.plan_id = plan and a.signature <> all (judged)) then
      return query select 'transaction_unjudged', null::bigint, null::bytea, null::timestamptz;
      return;
    end if;
  end if;
  return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
    'payout', case when is_plan then 'holder_payout.plan' else 'holder_payout.end' end, stream_id,
    case when is_plan then 0 else 1 end, record_holder_payout.body, said ->> 'mint', '{}', '{}', '{}') t;
end
$$;
grant execute on function ledger.record_holder_payout to tollbook_payout;

-- Puts the signed transaction of a part on record before it is sent. False when another process has recorded one for this
-- part since `replaced` was read, or has ended the plan: then this one must not be sent.
create or replace function work.record_payout_attempt(
  plan_id text, part integer, signature text, last_valid_height bigint, transaction bytea, replaced text
) returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The lock of the function above, so that an end and a transaction do not overlook each other.
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('tollbook holder payouts', 0));
  if exists (
    select from ledger.streams s
    where s.id = '\x05'::bytea || decode(substring(record_payout_attempt.plan_id from '^payout_([0-9a-f]{32})$'), 'hex')
      and s.state = 'ended') then
    return false;
  end if;
  insert into work.payout_attempts as a (plan_id, part, signature, last_valid_height, transaction)
  values (record_payout_attempt.plan_id, record_payout_attempt.part, record_payout_attempt.signature,
    record_payout_attempt.last_valid_height, record_payout_attempt.transaction)
  on conflict on constraint payout_attempts_one_for_each_part do update set
    signature = excluded.signature, last_valid_height = excluded.last_valid_height,
    transaction = excluded.transaction, attempted_at = clock_timestamp()
  where a.signature = record_payout_attempt.replaced;
  return found;
end
$$;
grant execute on function work.record_payout_attempt to tollbook_payout;
