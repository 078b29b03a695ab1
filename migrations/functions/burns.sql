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
  written constant text := substring(said ->> 'stream' from '^solana:(.*)$');
  stream_id constant bytea := '\x01'::bytea || ledger.base58_bytes(written);
  is_submitted constant boolean := said ->> 'kind' = 'BurnSubmitted';
begin
  if (is_submitted or said ->> 'kind' = 'BurnConfirmed') is not true
    or said ->> 'version' is distinct from case when is_submitted then '1' else '2' end
    or said ->> 'schemaVersion' is distinct from '1' or octet_length(stream_id) is distinct from 65
    or said ->> 'round' is null then
    raise exception 'the body is not a BurnSubmitted or BurnConfirmed' using errcode = 'check_violation';
  end if;
  if is_submitted then
    return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
      'burner', 'burn.submit', stream_id, 0, record_burn.body, said ->> 'mint', '{}', '{}', '{}',
      null, burn_rounds, convert_to((said ->> 'mint') || '#' || (said ->> 'round'), 'UTF8')) t;
  else
    return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
      'burner', 'burn.confirm', stream_id, 1, record_burn.body, said ->> 'mint',
      array['Liabilities:BurnOwed', 'Expenses:Burned:owed'], array['Assets:PaymentWallet', 'Income:BurnedByCallers'],
      array[(said ->> 'burnedBaseUnits')::numeric, (said ->> 'burnedBaseUnits')::numeric]) t;
  end if;
end
$$;
grant execute on function ledger.record_burn to tollbook_burner;
