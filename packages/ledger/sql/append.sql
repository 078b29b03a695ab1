-- The one write path. Group commit in one function gives about 35 times the payments a second of an interactive database
-- transaction under the same lock (docs/decisions/0002). It knows streams, steps, accounts and limits, and no business:
-- kinds of streams are rows (migrations/kinds). The caller decides; the functions enforce single use, order, transitions,
-- sums of zero and limits, and make the leaf hashes:
--
-- judge (append_judge.sql)     refuses or accepts each item by its stream, step, guards and keys
-- post (append_post.sql)       moves the balances, and refuses the items that would break a limit
-- record (append_record.sql)   assigns positions, and writes events, streams and what follows from them
--
-- Returns one row: refusals by item (null where taken; null as a whole when all were), and the leaf hashes of the items
-- taken, whose positions follow each other from first_position in the order of the items.
create or replace function ledger.append_as(
  writer text, batch ledger.batch, bodies bytea, note_values bytea[],
  out recorded_at timestamptz, out first_position bigint, out refusals text[], out leaf_hashes bytea)
language plpgsql
security definer
-- These settings hold in the functions that are called too. A path that does not list pg_temp begins with it, and a caller's
-- temporary type `text` would run the caller's code with the rights of the owner.
set search_path = pg_catalog, pg_temp
-- Lookups are by primary key; a plan made while a table was small would read all of it ever after.
set enable_seqscan = off
-- Compiling a plan takes a second, running it a millisecond; and the line above makes every plan look expensive.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  writing text;
  head record;
  now_is record;
  chart ledger.batch_accounts;
  judged ledger.judgement;
begin
  writing := set_config('ledger.writing', 'on', true);
  -- From here to the commit no other session assigns positions: the order of positions is the order of commits.
  select h.seq, h.recorded_at, h.clock_at into strict head from ledger.head h where h.one for update;
  now_is := ledger.next_time(head.recorded_at, head.clock_at);
  recorded_at := now_is.next_time;
  first_position := head.seq + 1;

  -- A batch without postings, such as a lone intent, skips the statements about money: each costs 50 to 150 microseconds
  -- although it finds nothing.
  if cardinality(batch.account_names) > 0 then
    chart := ledger.open_accounts(batch.account_mints, batch.account_names);
  end if;
  judged := ledger.judge(writer, batch, chart, recorded_at);
  if cardinality(batch.posting_items) > 0 then
    judged.verdicts := ledger.post(batch, chart, judged.verdicts, first_position);
  end if;
  leaf_hashes := ledger.record(
    batch, bodies, note_values, judged, chart.ids, first_position, recorded_at, now_is.clock);
  if cardinality(array_remove(judged.verdicts, null)) > 0 then
    refusals := judged.verdicts;
  end if;
  writing := set_config('ledger.writing', 'off', true);
end
$$;

-- Numbers, limits and balances of accounts, by name. A new account is opened with the limits of its class.
create or replace function ledger.open_accounts(account_mints text[], account_names text[]) returns ledger.batch_accounts
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  chart ledger.batch_accounts;
  differ boolean;
  opened integer;
begin
  for round in 1 .. 2 loop
    select array_agg(a.id order by d.n), array_agg(a.class order by d.n), array_agg(a.hourly order by d.n),
        array_agg(a.balance order by d.n), array_agg(a.floor order by d.n), array_agg(a.ceiling order by d.n),
        count(distinct a.id) = count(a.id)
      into chart.ids, chart.classes, chart.hourly, chart.balances, chart.floors, chart.ceilings, differ
      from unnest(account_mints, account_names) with ordinality as d (mint, name, n)
      left join lateral (select * from ledger.accounts a where a.mint = d.mint and a.name = d.name offset 0) a on true;
    exit when array_position(chart.ids, null) is null;
    insert into ledger.accounts (mint, name, class, hourly, floor, ceiling)
    select d.mint, d.name, c.class, c.hourly, c.floor, c.ceiling
    from unnest(account_mints, account_names) with ordinality as d (mint, name, n)
    join ledger.classes c on case when c.is_exact then d.name = c.prefix else starts_with(d.name, c.prefix) and d.name <> c.prefix end
    -- A conflict would use up a number too, and there are 2^31.
    where chart.ids[d.n] is null
    on conflict do nothing;
    get diagnostics opened = row_count;
    exit when opened = 0;
  end loop;
  if not differ then
    raise exception 'the columns of an append do not fit together' using errcode = 'data_exception';
  end if;
  return chart;
end
$$;
