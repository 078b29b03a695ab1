-- For the finance role: the body of one RefundApproved or RefundGranted. The login of the session is part of the body, so
-- no caller records a decision under another login. A grant refunds a payment that was delivered and is final, never more than
-- its price, and once (the steps of the kind).
create or replace function ledger.record_refund(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(record_refund.body, 'UTF8')::jsonb;
  signature constant bytea := ledger.base58_bytes(substring(said ->> 'payment' from '^solana:(.*)$'));
  is_grant constant boolean := said ->> 'kind' = 'RefundGranted';
  payment record;
  price jsonb;
begin
  if (said ->> 'kind' in ('RefundApproved', 'RefundGranted')) is not true or said ->> 'schemaVersion' is distinct from '1'
    or octet_length(signature) is distinct from 64
    or said ->> 'stream' is distinct from 'refund:' || substring(said ->> 'payment' from '^solana:(.*)$')
    or said ->> 'login' is distinct from session_user::text
    or (said ->> 'role' in ('finance', 'support')) is not true
    or (said ->> 'wallet' ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$') is not true
    or (said ->> 'mint' ~ '^[1-9A-HJ-NP-Za-km-z]{32,44}$') is not true
    or (case when is_grant then (said ->> 'amountBaseUnits' ~ '^[1-9][0-9]{0,19}$') is not true
      else jsonb_typeof(said -> 'debts') is distinct from 'array' or jsonb_array_length(said -> 'debts') not between 1 and 3 or exists (
        select from jsonb_array_elements(said -> 'debts') d
        where (d ->> 'baseUnits' ~ '^[1-9][0-9]{0,19}$') is not true
          or (d ->> 'account' ~ ('^Liabilities:(Overpaid|RefundsDue|Unmatched):' || (said ->> 'wallet') || '$')) is not true)
      end)
    or (length(said ->> 'by') between 1 and 100) is not true or (length(said ->> 'reason') between 1 and 500) is not true then
    raise exception 'the body is not a RefundApproved or RefundGranted of this login' using errcode = 'check_violation';
  end if;
  select s.state, s.kind into payment from ledger.streams s where s.id = '\x01'::bytea || signature;
  if payment.kind is distinct from 'payment' then
    raise exception 'the ledger has no payment %', said ->> 'payment' using errcode = 'check_violation';
  end if;
  if is_grant then
    select convert_from(e.body, 'UTF8')::jsonb -> 'settlement' into price
      from ledger.read('\x01'::bytea || signature) e where e.kind = 'PaymentVerified';
    if payment.state is distinct from 'fulfilled.final' or price ->> 'wallet' is distinct from said ->> 'wallet'
      or price #>> '{price,mint}' is distinct from said ->> 'mint'
      or ((said ->> 'amountBaseUnits')::numeric between 1 and (price #>> '{price,requiredBaseUnits}')::numeric) is not true then
      raise exception 'only a delivered and final payment is refunded by hand, to its wallet and up to its price'
        using errcode = 'check_violation';
    end if;
  end if;
  return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
    'finance', case when is_grant then 'refund.grant' else 'refund.approve' end, '\x04'::bytea || signature,
    (said ->> 'version')::integer - 1, record_refund.body, said ->> 'mint',
    case when is_grant then array['Expenses:RefundsGranted'] else '{}' end,
    case when is_grant then array['Liabilities:RefundsDue:' || (said ->> 'wallet')] else '{}' end,
    case when is_grant then array[(said ->> 'amountBaseUnits')::numeric] else '{}' end) t;
end
$$;
grant execute on function ledger.record_refund to tollbook_finance;

-- For the finance role: what the service records by itself later (a transfer that was never presented, or a refund that is
-- due), recorded now, together with the approval that says who and why. Both or none.
create or replace function ledger.record_booking(payment_body bytea, approval_body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant jsonb := convert_from(payment_body, 'UTF8')::jsonb;
  approval constant jsonb := convert_from(approval_body, 'UTF8')::jsonb;
  stream_id constant bytea := '\x01'::bytea || ledger.base58_bytes(substring(said ->> 'stream' from '^solana:(.*)$'));
  is_transfer constant boolean := said ->> 'kind' = 'TransferReceived';
  owed jsonb;
  -- Part of the price that is not held for the caller: the payer burned it, or the ledger owes its burn already.
  burn numeric;
  booked record;
begin
  if (said ->> 'kind' in ('TransferReceived', 'RefundDue')) is not true or said ->> 'schemaVersion' is distinct from '1'
    or octet_length(stream_id) is distinct from 65 or approval ->> 'kind' is distinct from 'RefundApproved'
    or approval ->> 'payment' is distinct from said ->> 'stream'
    or (is_transfer and (said ->> 'slot' ~ '^[0-9]{1,15}$') is not true) then
    raise exception 'the bodies are not a booking and its approval' using errcode = 'check_violation';
  end if;
  if not is_transfer then
    select convert_from(e.body, 'UTF8')::jsonb -> 'settlement' into owed from ledger.read(stream_id) e where e.kind = 'PaymentVerified';
    select (owed #>> '{price,burnBaseUnits}')::numeric into burn from ledger.read(stream_id) e where e.kind in ('TokensBurned', 'BurnOwed');
    if owed ->> 'wallet' is distinct from said ->> 'wallet' or owed #>> '{price,mint}' is distinct from said ->> 'mint'
      or (owed #>> '{price,requiredBaseUnits}')::numeric - coalesce(burn, 0)
        is distinct from (said ->> 'refundBaseUnits')::numeric then
      raise exception 'the refund is not what the payment holds for its wallet' using errcode = 'check_violation';
    end if;
  end if;
  select t.* into strict booked from ledger.append_one(
    'service', case when is_transfer then 'payment.unmatch' else 'payment.refund' end, stream_id,
    (said ->> 'version')::integer - 1, payment_body, said ->> 'mint',
    array[case when is_transfer then 'Assets:PaymentWallet' else 'Liabilities:Unearned' end],
    array[case when is_transfer then 'Liabilities:Unmatched:' || coalesce(said ->> 'wallet', 'unknown')
      else 'Liabilities:RefundsDue:' || (said ->> 'wallet') end],
    array[(said ->> case when is_transfer then 'receivedBaseUnits' else 'refundBaseUnits' end)::numeric]) t;
  if booked.refusal is not null then
    return query select booked.refusal, null::bigint, null::bytea, null::timestamptz;
    return;
  end if;
  select r.* into strict booked from ledger.record_refund(approval_body) r;
  if booked.refusal is not null then
    raise exception 'the approval was refused: %', booked.refusal using errcode = 'serialization_failure';
  end if;
  return query select booked.refusal, booked.seq, booked.leaf_hash, booked.recorded_at;
end
$$;
grant execute on function ledger.record_booking to tollbook_finance;
