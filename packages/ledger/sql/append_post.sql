-- Moves the balances of the items that are accepted. Returns the verdicts, with those of items that would break a limit.
create or replace function ledger.post(
  batch ledger.batch, chart ledger.batch_accounts, verdicts text[], first_position bigint)
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- By account that moves. Balances are a local array, whose elements are found at once.
  moved integer[];
  gross_in numeric[];
  gross_out numeric[];
  debit_touches bigint[];
  touches bigint[];
  balances constant numeric[] := chart.balances;
  exceeds boolean;
  last_position bigint;
begin
  -- If all debits together, and all credits together, stay within an account's limits, so does every order of them.
  -- Otherwise the items are tried one after the other, and a refused one moves nothing.
  for round in 1 .. 2 loop
    select array_agg(t.account), array_agg(t.gross_in), array_agg(t.gross_out), array_agg(t.debit_touches), array_agg(t.touches),
        bool_or(balances[t.account] + t.gross_in > chart.ceilings[t.account] or balances[t.account] - t.gross_out < chart.floors[t.account])
      into moved, gross_in, gross_out, debit_touches, touches, exceeds
      from (
        select t.account, coalesce(sum(t.amount) filter (where t.is_debit), 0) as gross_in,
          coalesce(sum(t.amount) filter (where not t.is_debit), 0) as gross_out,
          count(*) filter (where t.is_debit) as debit_touches, count(*) as touches
        from (
          select unnest(batch.posting_items) as i, unnest(batch.debits) as account, unnest(batch.amounts) as amount, true as is_debit
          union all
          select unnest(batch.posting_items), unnest(batch.credits), unnest(batch.amounts), false
        ) t
        where verdicts[t.i] is null
        group by t.account
      ) t;
    exit when round = 2 or exceeds is not true;
    verdicts := ledger.try_limits(batch, chart, verdicts);
  end loop;

  select first_position - 1 + coalesce(sum(t.events), 0) into last_position
    from unnest(batch.event_counts, verdicts) as t (events, verdict) where t.verdict is null;
  update ledger.accounts known
  set balance = known.balance + t.debit - t.credit, entries = known.entries + t.touches,
    debit_entries = known.debit_entries + t.debit_touches, upto_seq = last_position
  from unnest(moved, gross_in, gross_out, debit_touches, touches) as t (account, debit, credit, debit_touches, touches)
  where known.id = chart.ids[t.account];

  if true = any(chart.hourly) then
    with tallied as materialized (
      select t.debit, t.credit, t.amount, batch.event_times_ms[t.e] / 3600000 as hour
      from unnest(batch.posting_items, batch.posting_events, batch.debits, batch.credits, batch.amounts) as t (i, e, debit, credit, amount)
      where (chart.hourly[t.debit] or chart.hourly[t.credit]) and verdicts[t.i] is null
    )
    insert into ledger.tallies as known (account, hour, amount, entries)
    select chart.ids[t.account], timestamptz 'epoch' + t.hour * interval '1 hour', sum(t.sign * t.amount), sum(t.sign)
    from (
      select debit as account, hour, amount, 1 as sign from tallied
      union all
      select credit, hour, amount, -1 from tallied
    ) t
    where chart.hourly[t.account]
    group by t.account, t.hour
    on conflict (account, hour) do update set amount = known.amount + excluded.amount, entries = known.entries + excluded.entries;
  end if;
  return verdicts;
end
$$;

-- Tries the accepted items one after the other on the balances, and refuses those that end beyond a limit.
create or replace function ledger.try_limits(batch ledger.batch, chart ledger.batch_accounts, verdicts text[]) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Local arrays, whose elements are found at once.
  items constant integer[] := batch.posting_items;
  debits constant integer[] := batch.debits;
  credits constant integer[] := batch.credits;
  amounts constant numeric[] := batch.amounts;
  names constant text[] := batch.account_names;
  floors constant numeric[] := chart.floors;
  ceilings constant numeric[] := chart.ceilings;
  balances numeric[] := chart.balances;
  trial numeric[] := chart.balances;
  p integer := 1;  -- the next posting
  a integer;       -- a posting of the item
begin
  for i in 1 .. cardinality(verdicts) loop
    while items[p] < i loop p := p + 1; end loop;
    continue when verdicts[i] is not null;
    a := p;
    while items[p] = i loop
      trial[debits[p]] := trial[debits[p]] + amounts[p];
      trial[credits[p]] := trial[credits[p]] - amounts[p];
      p := p + 1;
    end loop;
    while a < p and verdicts[i] is null loop
      if trial[debits[a]] > ceilings[debits[a]] then verdicts[i] := 'limit ' || names[debits[a]];
      elsif trial[credits[a]] < floors[credits[a]] then verdicts[i] := 'limit ' || names[credits[a]];
      end if;
      a := a + 1;
    end loop;
    if verdicts[i] is null then balances := trial; else trial := balances; end if;
  end loop;
  return verdicts;
end
$$;
