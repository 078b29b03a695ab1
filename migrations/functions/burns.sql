-- For the burner role: the body of one BurnSubmitted, BurnConfirmed or BurnFailed. At most one round of a mint is open: its
-- number is a key, and it begins only after the round before it has ended. So no two transactions of ours can burn one debt.
-- The ceiling of Liabilities:BurnOwed makes burning more than is owed impossible to record. Tokens that the treasury has not delivered
-- for sales in dollars are not burned: the tokens of the payment wallet belong to others until then.
create or replace function ledger.record_burn(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  burn_rounds constant smallint := 11;
  said constant jsonb := convert_from(record_burn.body, 'UTF8')::jsonb;
  of_mint constant text := said ->> 'mint';
  stream_id constant bytea := '\x01'::bytea || ledger.base58_bytes(substring(said ->> 'stream' from '^solana:(.*)$'));
  round_number constant integer := (said ->> 'round')::integer;
  parts record;
begin
  if (case said ->> 'kind'
        when 'BurnSubmitted' then said ->> 'version' = '1' and said ->> 'burnBaseUnits' is not null
        when 'BurnConfirmed' then said ->> 'version' = '2'
        when 'BurnFailed' then said ->> 'version' = '2'
      end) is not true
    or said ->> 'schemaVersion' is distinct from '1' or octet_length(stream_id) is distinct from 65
    or round_number is null or round_number < 1 or said ->> 'throughPosition' !~ '^[0-9]{1,15}$' then
    raise exception 'the body is not a BurnSubmitted, BurnConfirmed or BurnFailed' using errcode = 'check_violation';
  end if;
  if said ->> 'kind' = 'BurnSubmitted' then
    -- Both conditions may only become true until the append: a round that has ended stays so, and the debts of final
    -- payments stay owed.
    if round_number > 1 and not exists (
      select from ledger.keys k
      join ledger.streams s on s.id = k.id
      where k.space = burn_rounds and k.key = convert_to(of_mint || '#' || (round_number - 1), 'UTF8') and s.state in ('confirmed', 'failed'))
    then
      return query select 'round_open', null::bigint, null::bytea, null::timestamptz;
      return;
    end if;
    -- A round that another job has recorded is refused by its key below.
    if not exists (select from ledger.keys k where k.space = burn_rounds and k.key = convert_to(of_mint || '#' || round_number, 'UTF8'))
      and not exists (
      select from ledger.accounts a
      where a.mint = of_mint and a.name = 'Liabilities:BurnOwed' and -a.balance - coalesce((
          select greatest(d.balance, 0) from ledger.accounts d where d.mint = of_mint and d.name = 'Assets:TokensToDeliver'), 0)
        >= (said ->> 'burnBaseUnits')::numeric)
    then
      return query select 'more_than_owed', null::bigint, null::bytea, null::timestamptz;
      return;
    end if;
    return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
      'burner', 'burn.submit', stream_id, 0, record_burn.body, of_mint, '{}', '{}', '{}',
      null, burn_rounds, convert_to(of_mint || '#' || round_number, 'UTF8')) t;
    return;
  end if;
  if said ->> 'kind' = 'BurnFailed' then
    return query select t.refusal, t.seq, t.leaf_hash, t.recorded_at from ledger.append_one(
      'burner', 'burn.fail', stream_id, 1, record_burn.body, of_mint, '{}', '{}', '{}') t;
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
    'burner', 'burn.confirm', stream_id, 1, record_burn.body, of_mint,
    'Liabilities:BurnOwed'::text || parts.accounts,
    'Assets:PaymentWallet'::text || array_fill('Income:BurnedByCallers'::text, array[cardinality(parts.accounts)]),
    parts.whole || parts.amounts) t;
end
$$;
grant execute on function ledger.record_burn to tollbook_burner;
