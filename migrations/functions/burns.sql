-- For the burner role: the body of one BurnSubmitted or BurnConfirmed. A round is a key, so it is burned once; the ceiling
-- of Liabilities:BurnOwed makes burning more than is owed impossible to record.
create or replace function ledger.record_burn(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
declare
  burn_rounds constant smallint := 11;
  said constant jsonb := convert_from(record_burn.body, 'UTF8')::jsonb;
  stream_id constant bytea := '\x01'::bytea || ledger.base58_bytes(substring(said ->> 'stream' from '^solana:(.*)$'));
  is_submitted constant boolean := said ->> 'kind' = 'BurnSubmitted';
  is_confirmed constant boolean := said ->> 'kind' = 'BurnConfirmed';
  parts record;
begin
  if (is_submitted and said ->> 'version' = '1' or is_confirmed and said ->> 'version' = '2') is not true
    or said ->> 'schemaVersion' is distinct from '1' or octet_length(stream_id) is distinct from 65
    or said ->> 'round' is null then
    raise exception 'the body is not a BurnSubmitted or BurnConfirmed' using errcode = 'check_violation';
  end if;
  if is_submitted then
    return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
      'burner', 'burn.submit', stream_id, 0, record_burn.body, said ->> 'mint', '{}', '{}', '{}',
      null, burn_rounds, convert_to((said ->> 'mint') || '#' || (said ->> 'round'), 'UTF8')) t;
    return;
  end if;
  select array_agg('Expenses:Burned:' || (p.part ->> 'endpoint') order by p.n) as accounts,
      array_agg((p.part ->> 'baseUnits')::numeric order by p.n) as amounts, sum((p.part ->> 'baseUnits')::numeric) as whole
    into strict parts
    from jsonb_array_elements(said -> 'parts') with ordinality as p (part, n);
  if parts.whole is distinct from (said ->> 'burnedBaseUnits')::numeric then
    raise exception 'the parts of a burn do not add up' using errcode = 'check_violation';
  end if;
  return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
    'burner', 'burn.confirm', stream_id, 1, record_burn.body, said ->> 'mint',
    'Liabilities:BurnOwed'::text || parts.accounts,
    'Assets:PaymentWallet'::text || array_fill('Income:BurnedByCallers'::text, array[cardinality(parts.accounts)]),
    parts.whole || parts.amounts) t;
end
$$;
grant execute on function ledger.record_burn to tollbook_burner;
