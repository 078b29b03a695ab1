-- The one write path. Group commit in one function gives about 35 times the payments a second of an interactive database
-- transaction under the same lock (docs/decisions/0002). It knows streams, steps, accounts and limits, and no business:
-- kinds of streams are rows (migrations/kinds). The caller decides; this function enforces single use, order, transitions,
-- sums of zero and limits, and makes the leaf hashes.
--
-- Arguments are columns of several tables, as arrays, because reading them out of one JSON document took three times as
-- long. *_items and *_events point into the items and events from 1; debits and credits into the names of accounts. An
-- item's events follow each other, and so do an event's postings; *_starts count from 0.
-- Returns one row: refusals by item (null where taken; null as a whole when all were), and the leaf hashes of the items
-- taken, whose positions follow each other from first_position in the order of the items.
create or replace function ledger.append_as(
  writer text,
  ids bytea[], steps text[], expected integer[], leases_ms integer[], event_counts integer[], first_events integer[],
  event_items integer[], event_kinds text[], event_schemas smallint[], event_times_ms bigint[],
  event_starts integer[], event_lengths integer[], posting_starts integer[], posting_counts integer[],
  account_mints text[], account_names text[],
  posting_items integer[], posting_events integer[], debits integer[], credits integer[], amounts numeric[],
  guard_items integer[], guard_ids bytea[], guard_versions integer[],
  key_items integer[], key_spaces smallint[], key_values bytea[], key_digests bytea[], key_lives_s integer[],
  note_items integer[], note_values bytea[],
  bodies bytea,
  out recorded_at timestamptz, out first_position bigint, out refusals text[], out leaf_hashes bytea)
language plpgsql
security definer
set search_path = ''
-- Lookups are by primary key; a plan made while a table was small would read all of it ever after.
set enable_seqscan = off
-- Compiling a plan takes a second, running it a millisecond; and the line above makes every plan look expensive.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  writing text;
  head_seq bigint;
  head_clock timestamptz; clock timestamptz;  -- of the database: at the append before, and now
  now_is record;
  stamp timestamptz; stamp_bytes bytea;
  verdicts text[];       -- by item; null: taken
  to_states text[];
  kinds text[];
  streams_of bigint[];   -- by item: position of its stream's first event
  firsts bigint[];       -- by item: position of its first event
  all_good boolean;
  has_settings boolean;
  fits boolean;          -- the columns describe one batch
  attached integer[];    -- items that have guards, keys and notes
  ids_differ boolean; accounts_differ boolean;
  account_ids integer[];
  classes text[];
  hourly boolean[];
  balances numeric[]; floors numeric[]; ceilings numeric[];
  opened integer;
  debit_ids integer[]; credit_ids integer[];
  moved integer[];
  gross_in numeric[];
  gross_out numeric[];
  debit_touches bigint[];
  touches bigint[];
  exceeds boolean;
  trial numeric[];
  taken bigint := 0;
  reason text;
  p integer;
  a integer;
begin
  writing := set_config('ledger.writing', 'on', true);
  -- From here to the commit no other session assigns positions: the order of positions is the order of commits.
  select h.seq, h.recorded_at, h.clock_at into strict head_seq, stamp, head_clock from ledger.head h where h.one for update;
  now_is := ledger.next_time(stamp, head_clock);
  stamp := now_is.next_time;
  clock := now_is.clock;
  stamp_bytes := int8send((extract(epoch from stamp) * 1000)::bigint);

  -- Accounts: names to numbers, once for the batch. A new account gets the limits of its class. A batch without postings, such
  -- as a lone intent, skips the statements about money: each costs 50 to 150 microseconds although it finds nothing.
  for round in 1 .. 2 loop
    exit when cardinality(account_names) = 0;
    select array_agg(a.id order by d.n), array_agg(a.class order by d.n), array_agg(a.hourly order by d.n),
        array_agg(a.balance order by d.n), array_agg(a.floor order by d.n), array_agg(a.ceiling order by d.n),
        count(distinct a.id) = count(a.id)
      into account_ids, classes, hourly, balances, floors, ceilings, accounts_differ
      from unnest(account_mints, account_names) with ordinality as d (mint, name, n)
      left join lateral (select * from ledger.accounts a where a.mint = d.mint and a.name = d.name offset 0) a on true;
    exit when array_position(account_ids, null) is null;
    insert into ledger.accounts (mint, name, class, hourly, floor, ceiling)
    select d.mint, d.name, c.class, c.hourly, c.floor, c.ceiling
    from unnest(account_mints, account_names) as d (mint, name)
    join ledger.classes c on case when c.is_exact then d.name = c.prefix else starts_with(d.name, c.prefix) and d.name <> c.prefix end
    on conflict do nothing;
    get diagnostics opened = row_count;
    exit when opened = 0;
  end loop;
  -- Each item against its stream, its step, and the step's moves. Items and events that point elsewhere than the counts say
  -- would post to another stream than was judged.
  with item as materialized (
    select item.n, item.id, item.events, known.stream, s.kind, s.to_state, s.moves, k.is_setting,
      item.id is not null and (event_items[item.first : item.first + item.events - 1] = array_fill(item.n::integer, array[item.events])) is true as fits,
      case
        when coalesce(known.version, 0) <> item.expected or known.kind <> s.kind then 'conflict'
        when s.step is null then 'no step'
        when s.after_lease and known.lease_until > stamp then 'conflict'
        when s.writer <> append_as.writer or (s.lease = 'take') <> (item.lease_ms is not null) or item.lease_ms <= 0 then 'not_this_step'
        when octet_length(item.id) < 2 then 'not_this_id'
        when k.space <> get_byte(item.id, 0) or k.id_bytes not in (0, octet_length(item.id) - 1)
          or k.id_prefix <> '' and substring(item.id from 2 for length(k.id_prefix)) <> convert_to(k.id_prefix, 'UTF8') then 'not_this_id'
      end as verdict
    from (
      -- The step is looked up once per list of events, which most items of a batch share.
      select item.*, append_as.event_kinds[item.first : item.first + item.events - 1] as event_kinds
      from unnest(ids, steps, expected, leases_ms, event_counts, first_events) with ordinality as item (id, step, expected, lease_ms, events, first, n)
      offset 0
    ) item
    left join lateral (
      select s.stream, s.kind, s.state, s.version, s.lease_until from ledger.streams s where s.id = item.id offset 0
    ) known on true
    left join lateral (
      select s.* from ledger.steps s
      where s.step = item.step and s.from_state = coalesce(known.state, '') and s.event_kinds = item.event_kinds
      offset 0
    ) s on true
    left join lateral (select k.* from ledger.kinds k where k.kind = s.kind offset 0) k on true
  ),
  overreaching as (
    -- Amounts are whole: columns round 0.5, and NaN is more than any number.
    select array_agg(t.i) filter (where (t.amount > 0 and t.amount < 'Infinity' and t.amount = trunc(t.amount) and account_mints[t.debit] = account_mints[t.credit]
        and classes[t.debit] || '>' || classes[t.credit] = any(item.moves)) is not true) as items,
      -- Each posting lies in the range of its event, and there are as many as the events count: the ranges share none.
      bool_and((event_items[t.e] = t.i and t.n > posting_starts[t.e] and t.n <= posting_starts[t.e] + posting_counts[t.e]) is true) as fit
    from unnest(posting_items, posting_events, debits, credits, amounts) with ordinality as t (i, e, debit, credit, amount, n)
    left join item on item.n = t.i
  )
  select array_agg(case when j.verdict is null and j.n = any((select o.items from overreaching o)::bigint[]) then 'overreaching' else j.verdict end order by j.n),
      array_agg(j.to_state order by j.n), array_agg(j.kind order by j.n), array_agg(j.stream order by j.n), bool_or(j.is_setting),
      bool_and(j.fits) and sum(j.events) = cardinality(event_items) and (select o.fit is not false from overreaching o)
        and 0 <= all(posting_counts) and (select coalesce(sum(c), 0) = cardinality(posting_items) from unnest(posting_counts) c),
      count(distinct j.id) = count(j.id)
    into verdicts, to_states, kinds, streams_of, has_settings, fits, ids_differ
    from item j;
  attached := coalesce(guard_items || key_items || note_items, '{}');
  if (fits and accounts_differ is not false and 1 <= all(attached) and cardinality(ids) >= all(attached)) is not true then
    raise exception 'the columns of an append do not fit together' using errcode = 'data_exception';
  end if;

  -- Seldom: no step, guards, keys, settings, two items of one stream (the caller's queue keeps those apart).
  if array_position(verdicts, 'no step') is not null then
    for a, reason in
      select q.n, case
        when not exists (select from ledger.steps known where known.step = q.step)
          or exists (
            select from ledger.steps known
            left join ledger.streams s on s.id = q.id
            where known.step = q.step and known.from_state = coalesce(s.state, ''))
        then 'not_this_step' else 'conflict' end
      from unnest(ids, steps, verdicts) with ordinality as q (id, step, verdict, n)
      where q.verdict = 'no step'
    loop
      verdicts[a] := reason;
    end loop;
  end if;
  if cardinality(guard_items) > 0 then
    for a in
      select g.i
      from unnest(guard_items, guard_ids, guard_versions) as g (i, id, version)
      left join ledger.streams s on s.id = g.id
      where coalesce(s.version, 0) is distinct from g.version or array_position(ids[: g.i - 1], g.id) is not null
    loop
      verdicts[a] := coalesce(verdicts[a], 'guard');
    end loop;
  end if;
  if cardinality(key_items) > 0 then
    for a in
      select q.i
      from unnest(key_items, key_spaces, key_values, key_digests) with ordinality as q (i, space, key, digest, n)
      left join ledger.keys used on used.space = q.space and used.key = q.key and (used.until is null or used.until > stamp)
      where used.id <> ids[q.i] or used.id is not null and used.digest is distinct from q.digest
        or exists (
          select from unnest(key_items, key_spaces, key_values) with ordinality as b (i, space, key, n)
          where b.n < q.n and b.i <> q.i and b.space = q.space and b.key = q.key)
    loop
      verdicts[a] := coalesce(verdicts[a], 'key_used');
    end loop;
  end if;
  if has_settings then
    for a, reason in
      select t.n, case when split.name is null or split.number > s.number_max then 'not_this_id' else 'guard' end
      from unnest(ids, kinds, steps, to_states) with ordinality as t (id, kind, step, to_state, n)
      join ledger.kinds k on k.kind = t.kind and k.is_setting
      join ledger.steps s on s.step = t.step and s.kind = t.kind and s.to_state = t.to_state
      left join lateral (
        select m[1] as name, m[2]::integer as number
        from regexp_match(encode(substring(t.id from 2), 'escape'), '^([a-z0-9-]{1,40}(?:/[1-9A-Za-z]{1,44})?)#([1-9][0-9]{0,8})$') as m
      ) split on split.name is not null
      where split.name is null or split.number > s.number_max
        or split.number > 1 and not exists (
          select from ledger.settings known where known.name = split.name and known.number = split.number - 1)
    loop
      verdicts[a] := coalesce(verdicts[a], reason);
    end loop;
  end if;
  if not ids_differ then
    for a in
      select q.n from unnest(ids) with ordinality as q (id, n)
      where exists (
        select from unnest(ids, verdicts) with ordinality as b (id, verdict, n) where b.n < q.n and b.id = q.id and b.verdict is null)
    loop
      verdicts[a] := coalesce(verdicts[a], 'conflict');
    end loop;
  end if;
  all_good := cardinality(array_remove(verdicts, null)) = 0;

  -- Movements by account. If all debits together, and all credits together, stay within an account's limits, so does every
  -- order of them. Otherwise the items are tried one after the other, and a refused one moves nothing.
  for round in 1 .. 2 loop
    exit when cardinality(posting_items) = 0;
    select array_agg(t.account), array_agg(t.gross_in), array_agg(t.gross_out), array_agg(t.debit_touches), array_agg(t.touches),
        bool_or(balances[t.account] + t.gross_in > ceilings[t.account] or balances[t.account] - t.gross_out < floors[t.account])
      into moved, gross_in, gross_out, debit_touches, touches, exceeds
      from (
        select t.account, sum(t.debit) as gross_in, sum(t.credit) as gross_out, count(t.debit) as debit_touches, count(*) as touches
        from (
          select unnest(debits) as account, unnest(amounts) as debit, null::numeric as credit, unnest(posting_items) as i
          union all
          select unnest(credits), null, unnest(amounts), unnest(posting_items)
        ) t
        where all_good or verdicts[t.i] is null
        group by t.account
      ) t;
    exit when round = 2 or exceeds is not true;
    p := 1;
    trial := balances;
    for i in 1 .. cardinality(ids) loop
      while posting_items[p] < i loop p := p + 1; end loop;
      if verdicts[i] is null then
        a := p;
        while posting_items[p] = i loop
          trial[debits[p]] := trial[debits[p]] + amounts[p];
          trial[credits[p]] := trial[credits[p]] - amounts[p];
          p := p + 1;
        end loop;
        while a < p and verdicts[i] is null loop
          if trial[debits[a]] > ceilings[debits[a]] then verdicts[i] := 'limit ' || account_names[debits[a]];
          elsif trial[credits[a]] < floors[credits[a]] then verdicts[i] := 'limit ' || account_names[credits[a]];
          end if;
          a := a + 1;
        end loop;
        if verdicts[i] is null then balances := trial; else trial := balances; all_good := false; end if;
      end if;
    end loop;
  end loop;

  -- Positions: gapless, in the order of the items.
  for i in 1 .. cardinality(ids) loop
    if all_good or verdicts[i] is null then
      firsts[i] := head_seq + taken + 1;
      taken := taken + event_counts[i];
    else
      firsts[i] := null;
    end if;
  end loop;
  if cardinality(posting_items) > 0 then
    select array_agg(account_ids[t.d] order by t.n), array_agg(account_ids[t.c] order by t.n) into debit_ids, credit_ids
      from unnest(debits, credits) with ordinality as t (d, c, n);
  end if;

  with hashed as (
    -- RFC 6962: sha256(0x00 || entry), the entry being position, time and body.
    select e.*, sha256('\x00'::bytea || int8send(e.seq) || stamp_bytes || e.body) as leaf_hash
    from (
      select t.*, firsts[t.i] + t.n - first_events[t.i] as seq, substring(bodies from t.start + 1 for t.length) as body
      from (
        -- In the list of columns, because the same in FROM writes each row to a store and reads it back.
        select unnest(event_items) as i, unnest(event_kinds) as kind, unnest(event_schemas) as schema, unnest(event_times_ms) as time_ms,
          unnest(event_starts) as start, unnest(event_lengths) as length, unnest(posting_starts) as posting,
          unnest(posting_counts) as postings, generate_subscripts(event_items, 1) as n
      ) t
      where firsts[t.i] is not null
      offset 0
    ) e
  ),
  log as (
    insert into ledger.events (
      seq, stream, version, kind, schema_version, recorded_at, effective_at, debits, credits, amounts, body, leaf_hash)
    select h.seq, coalesce(streams_of[h.i], firsts[h.i]), expected[h.i] + (h.n - first_events[h.i]) + 1, h.kind, h.schema,
      stamp, timestamptz 'epoch' + h.time_ms * interval '1 millisecond',
      case when h.postings > 0 then debit_ids[h.posting + 1 : h.posting + h.postings] end,
      case when h.postings > 0 then credit_ids[h.posting + 1 : h.posting + h.postings] end,
      case when h.postings > 0 then amounts[h.posting + 1 : h.posting + h.postings] end,
      h.body, h.leaf_hash
    from hashed h
    returning seq, leaf_hash
  ),
  posted as (
    update ledger.accounts known
    set balance = known.balance + coalesce(t.debit, 0) - coalesce(t.credit, 0), entries = known.entries + t.touches,
      debit_entries = known.debit_entries + t.debit_touches, upto_seq = head_seq + taken
    from unnest(moved, gross_in, gross_out, debit_touches, touches) as t (account, debit, credit, debit_touches, touches)
    where known.id = account_ids[t.account]
  ),
  counted as (
    update ledger.head h set seq = head_seq + taken, recorded_at = stamp, clock_at = clock,
      leaf_hash = coalesce((select l.leaf_hash from log l order by l.seq desc limit 1), h.leaf_hash)
    where h.one and (taken > 0 or stamp > clock)
  )
  select string_agg(l.leaf_hash, ''::bytea order by l.seq) into leaf_hashes from log l;

  if 0 = any(expected) then
    insert into ledger.streams (id, stream, kind, state, version, lease_until, seqs)
    select t.id, firsts[t.n], kinds[t.n], to_states[t.n], t.events, stamp + t.lease_ms * interval '1 millisecond',
      int8multirange(int8range(firsts[t.n], firsts[t.n] + t.events))
    from unnest(ids, expected, leases_ms, event_counts) with ordinality as t (id, expected, lease_ms, events, n)
    where firsts[t.n] is not null and t.expected = 0;
  end if;
  if 0 < any(expected) then
    update ledger.streams known
    set state = to_states[t.n], version = known.version + t.events, lease_until = stamp + t.lease_ms * interval '1 millisecond',
      seqs = known.seqs + int8multirange(int8range(firsts[t.n], firsts[t.n] + t.events))
    from unnest(ids, expected, leases_ms, event_counts) with ordinality as t (id, expected, lease_ms, events, n)
    where firsts[t.n] is not null and t.expected > 0 and known.id = t.id;
  end if;

  if true = any(hourly) then
    with tallied as materialized (
      select t.debit, t.credit, t.amount, event_times_ms[t.e] / 3600000 as hour
      from unnest(posting_items, posting_events, debits, credits, amounts) as t (i, e, debit, credit, amount)
      where (hourly[t.debit] or hourly[t.credit]) and firsts[t.i] is not null
    )
    insert into ledger.tallies as known (account, hour, amount, entries)
    select account_ids[t.account], timestamptz 'epoch' + t.hour * interval '1 hour', sum(t.sign * t.amount), sum(t.sign)
    from (
      select debit as account, hour, amount, 1 as sign from tallied
      union all
      select credit, hour, amount, -1 from tallied
    ) t
    where hourly[t.account]
    group by t.account, t.hour
    on conflict (account, hour) do update set amount = known.amount + excluded.amount, entries = known.entries + excluded.entries;
  end if;
  if cardinality(key_items) > 0 then
    insert into ledger.keys as known (space, key, id, digest, until)
    select q.space, q.key, ids[q.i], q.digest, stamp + q.life_s * interval '1 second'
    from unnest(key_items, key_spaces, key_values, key_digests, key_lives_s) as q (i, space, key, digest, life_s)
    where firsts[q.i] is not null
    on conflict (space, key) do update set id = excluded.id, digest = excluded.digest, until = excluded.until;
  end if;
  if cardinality(note_items) > 0 then
    insert into ledger.notes (id, note, recorded_at, is_keyed)
    select ids[q.i], q.note, stamp, q.i = any(key_items)
    from unnest(note_items, note_values) as q (i, note)
    where firsts[q.i] is not null
    on conflict (id) do nothing;
  end if;
  if has_settings then
    insert into ledger.settings (name, number, seq, valid_from, body)
    select split_part(encode(substring(ids[t.i] from 2), 'escape'), '#', 1),
      split_part(encode(substring(ids[t.i] from 2), 'escape'), '#', 2)::integer,
      firsts[t.i], timestamptz 'epoch' + t.time_ms * interval '1 millisecond', substring(bodies from t.start + 1 for t.length)
    from unnest(event_items, event_times_ms, event_starts, event_lengths) with ordinality as t (i, time_ms, start, length, n)
    join ledger.kinds k on k.kind = kinds[t.i] and k.is_setting
    where firsts[t.i] is not null and t.n = first_events[t.i] and expected[t.i] = 0;
  end if;

  writing := set_config('ledger.writing', 'off', true);
  recorded_at := stamp;
  first_position := head_seq + 1;
  refusals := case when not all_good then verdicts end;
end
$$;
