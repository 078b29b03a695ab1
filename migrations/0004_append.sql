-- Why: the one write path. Group commit in one function gives about 35 times the payments a second of an interactive
-- database transaction under the same lock (docs/decisions/0003). What moves money is decided in TypeScript; this
-- function enforces: single use, order, legal transitions, sums of zero, and the leaf hashes.

-- The life of a payment, enforced a second time. A live claim can only be taken over when its lease has ended by the
-- database's clock, whatever an instance believes.
create function ledger.may_follow(known_state text, known_attempt integer, lease_ended boolean, next_state text, next_attempt integer)
returns boolean
language sql
immutable
as $$
  select case next_state
    when 'submitted' then known_state is null and next_attempt = 0
    when 'claimed' then next_attempt = coalesce(known_attempt, 0) + 1
      and (known_state is null or known_state in ('submitted', 'verified', 'released') or (known_state = 'claimed' and lease_ended))
    when 'released' then known_state = 'claimed' and next_attempt = known_attempt
    when 'fulfilled' then known_state = 'claimed' and next_attempt = known_attempt
    else false
  end
$$;

-- Columns of three tables, as arrays: items (one payment's or the price list's events each), their events, their entries.
-- event_items and entry_events point into them, from 1; bodies are the events' bytes one after the other. Arrays, because
-- reading the same out of one JSON document took 1.0 ms of the 3.4 ms of a batch of 32 claims, and arrays take 0.3 ms.
-- One row for each item: its refusal, or its first position and its leaf hashes, 32 bytes each; the positions of an item
-- follow each other. Items of one batch are of different streams. One refused item never fails its neighbours.
create function ledger.append(
  streams text[], signatures bytea[], expected_versions integer[], states text[], wallets text[], endpoints text[],
  attempts integer[], leases_ms integer[], quote_ids text[], idempotency_keys text[], order_digests text[], answers text[],
  event_items integer[], event_versions integer[], event_kinds text[], event_schema_versions smallint[],
  event_times_ms bigint[], event_starts integer[], event_lengths integer[],
  entry_events integer[], entry_lines smallint[], entry_accounts text[], entry_mints text[], entry_amounts numeric[],
  bodies bytea)
returns table (n integer, refusal text, recorded_at timestamptz, first_position bigint, leaf_hashes bytea)
language plpgsql
security definer
set search_path = ''
-- The look-ups are by primary key, but a plan made while the table was small would read all of it for ever after.
set enable_seqscan = off
-- Compiling a plan takes a second, running it a millisecond; and the line above makes every plan look expensive.
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  head_seq bigint;
  stamp timestamptz;
  stamp_bytes bytea;
begin
  perform set_config('ledger.writing', 'on', true);
  -- From here to the commit nobody else assigns positions: the order of positions is the order of commits.
  select h.seq, greatest(h.recorded_at, date_trunc('milliseconds', clock_timestamp()))
    into strict head_seq, stamp
    from ledger.head h
    where h.one
    for update;
  stamp_bytes := int8send((extract(epoch from stamp) * 1000)::bigint);

  return query
  with item as materialized (
    select i.*
    from unnest(streams, signatures, expected_versions, states, wallets, endpoints, attempts, leases_ms, quote_ids,
      idempotency_keys, order_digests, answers) with ordinality as i (
      stream, signature, expected, state, wallet, endpoint, attempt, lease_ms, quote_id,
      idempotency_key, order_digest, answer, n)
  ),
  event as materialized (
    select e.*
    from unnest(event_items, event_versions, event_kinds, event_schema_versions, event_times_ms, event_starts, event_lengths)
      with ordinality as e (i, version, kind, schema_version, time_ms, start, length, n)
  ),
  entry as materialized (
    select t.*
    from unnest(entry_events, entry_lines, entry_accounts, entry_mints, entry_amounts) as t (e, line, account, mint, amount)
  ),
  unbalanced as materialized (
    select event_items[t.e] as i from entry t group by t.e, t.mint having sum(t.amount) <> 0
  ),
  judged as materialized (
    select item.*, known.seqs as known_seqs,
      case
        when coalesce(known.version, list.version, 0) <> item.expected then 'conflict'
        when item.signature is not null and not coalesce(
          ledger.may_follow(known.state, known.attempt, known.lease_until <= stamp, item.state, item.attempt), false) then 'conflict'
        when exists (select from unbalanced u where u.i = item.n) then 'unbalanced'
        when used.signature <> item.signature or used.order_digest <> item.order_digest
          or item.idempotency_key is not null and exists (
            select from item earlier
            where earlier.n < item.n and earlier.idempotency_key = item.idempotency_key and earlier.wallet = item.wallet)
          then 'idempotency_key_reused'
      end as refusal
    from item
    left join lateral (
      select p.version, p.state, p.attempt, p.lease_until, p.seqs
      from ledger.payments p
      where p.signature = item.signature
      offset 0
    ) known on true
    left join lateral (
      select max(p.version) as version from ledger.price_lists p where item.signature is null
    ) list on true
    left join lateral (
      select a.signature, a.order_digest
      from paywall.idempotent_answers a
      where a.wallet = item.wallet and a.key = item.idempotency_key and a.recorded_at > stamp - interval '24 hours'
      offset 0
    ) used on true
  ),
  numbered as materialized (
    select event.*, judged.stream, judged.endpoint,
      head_seq + row_number() over (order by event.n) as seq,
      timestamptz 'epoch' + event.time_ms * interval '1 millisecond' as effective_at,
      substring(bodies from event.start + 1 for event.length) as bytes
    from event
    join judged on judged.n = event.i
    where judged.refusal is null
  ),
  hashed as materialized (
    -- RFC 6962: sha256(0x00 || entry), the entry being position, time and body (src/ledger/leaf.ts).
    select numbered.*, sha256('\x00'::bytea || int8send(numbered.seq) || stamp_bytes || numbered.bytes) as leaf_hash
    from numbered
  ),
  placed as materialized (
    select h.i, max(h.version) as version, array_agg(h.seq order by h.seq) as positions,
      string_agg(h.leaf_hash, ''::bytea order by h.seq) as leaf_hashes
    from hashed h
    group by h.i
  ),
  posted as materialized (
    select h.seq, h.effective_at, h.endpoint, t.line, t.account, t.mint, t.amount
    from entry t
    join hashed h on h.n = t.e
  ),
  log_events as (
    insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
    select h.seq, h.stream, h.version, h.kind, h.schema_version, stamp, h.effective_at, h.bytes, h.leaf_hash from hashed h
  ),
  log_entries as (
    insert into ledger.entries (seq, line, account, mint, amount)
    select p.seq, p.line, p.account, p.mint, p.amount from posted p
  ),
  move_payments as (
    insert into ledger.payments as known (
      signature, version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at)
    select j.signature, p.version, j.state, j.wallet, j.endpoint, j.attempt,
      stamp + j.lease_ms * interval '1 millisecond', j.quote_id, coalesce(j.known_seqs, '{}') || p.positions, stamp, stamp
    from judged j
    join placed p on p.i = j.n
    where j.signature is not null
    on conflict (signature) do update set
      version = excluded.version, state = excluded.state, attempt = excluded.attempt, lease_until = excluded.lease_until,
      quote_id = coalesce(known.quote_id, excluded.quote_id), seqs = excluded.seqs, updated_at = excluded.updated_at
  ),
  move_balances as (
    insert into ledger.balances as known (mint, account, balance, entries, upto_seq)
    select p.mint, p.account, sum(p.amount), count(*), max(p.seq) from posted p group by p.mint, p.account
    on conflict (mint, account) do update set
      balance = known.balance + excluded.balance, entries = known.entries + excluded.entries, upto_seq = excluded.upto_seq
  ),
  burned as materialized (
    select p.mint, p.endpoint, date_trunc('hour', p.effective_at, 'UTC') as hour, sum(p.amount) as amount, count(*) as payments
    from posted p
    where p.account = 'Expenses:Burned'
    group by p.mint, p.endpoint, hour
  ),
  move_burns as (
    insert into ledger.burn_totals as known (mint, span, starts_at, endpoint, burned, payments)
    select b.mint, s.span, s.starts_at, s.endpoint, sum(b.amount), sum(b.payments)
    from burned b
    cross join lateral (values
      ('all', '-infinity'::timestamptz, ''),
      ('all', '-infinity', b.endpoint),
      ('day', date_trunc('day', b.hour, 'UTC'), ''),
      ('hour', b.hour, '')
    ) as s (span, starts_at, endpoint)
    group by b.mint, s.span, s.starts_at, s.endpoint
    on conflict (mint, span, starts_at, endpoint) do update set
      burned = known.burned + excluded.burned, payments = known.payments + excluded.payments
  ),
  keep_answers as (
    insert into paywall.idempotent_answers as known (
      wallet, key, signature, order_digest, recorded_at, answer, fulfilled_seq, fulfilled_leaf, fulfilled_at)
    select j.wallet, j.idempotency_key, j.signature, j.order_digest, stamp, j.answer,
      case when j.answer is not null then p.positions[1] end,
      case when j.answer is not null then substring(p.leaf_hashes for 32) end,
      case when j.answer is not null then stamp end
    from judged j
    join placed p on p.i = j.n
    where j.idempotency_key is not null
    on conflict (wallet, key) do update set
      signature = excluded.signature, order_digest = excluded.order_digest, recorded_at = excluded.recorded_at,
      answer = excluded.answer, fulfilled_seq = excluded.fulfilled_seq, fulfilled_leaf = excluded.fulfilled_leaf,
      fulfilled_at = excluded.fulfilled_at
  ),
  move_head as (
    update ledger.head h set seq = head_seq + (select count(*) from hashed), recorded_at = stamp where h.one
  )
  select j.n::integer, j.refusal, stamp, p.positions[1], p.leaf_hashes
  from judged j
  left join placed p on p.i = j.n;

  -- Only a price list has no signature. Its projection is left out of the statement above, which runs for every claim.
  if array_position(signatures, null) is not null then
    insert into ledger.price_lists (version, seq, effective_at, body)
    select e.version, e.seq, e.effective_at, e.body
    from ledger.events e
    where e.seq > head_seq and e.kind = 'PriceListPublished';
  end if;

  perform set_config('ledger.writing', 'off', true);
end
$$;

-- Quotes are append-only too, but not events: anybody can ask for one.
create function ledger.record_quotes(
  ids text[], wallets text[], endpoints text[], memos text[], prices_micro_usd bigint[], token_prices_atto_usd numeric[],
  mints text[], decimals smallint[], required numeric[], burn numeric[], provider numeric[], holders numeric[],
  treasury numeric[], issued_ms bigint[], expires_ms bigint[], slots bigint[])
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform set_config('ledger.writing', 'on', true);
  insert into ledger.quotes (
    id, wallet, endpoint, memo, price_micro_usd, token_price_atto_usd, mint, decimals, required, burn, provider, holders,
    treasury, issued_at, expires_at, slot)
  select q.id, q.wallet, q.endpoint, q.memo, q.price_micro_usd, q.token_price_atto_usd, q.mint, q.decimals, q.required, q.burn,
    q.provider, q.holders, q.treasury, timestamptz 'epoch' + q.issued_ms * interval '1 millisecond',
    timestamptz 'epoch' + q.expires_ms * interval '1 millisecond', q.slot
  from unnest(ids, wallets, endpoints, memos, prices_micro_usd, token_prices_atto_usd, mints, decimals, required, burn,
    provider, holders, treasury, issued_ms, expires_ms, slots) as q (
    id, wallet, endpoint, memo, price_micro_usd, token_price_atto_usd, mint, decimals, required, burn,
    provider, holders, treasury, issued_ms, expires_ms, slot);
  perform set_config('ledger.writing', 'off', true);
end
$$;

create function paywall.forget_old_answers() returns bigint
language sql
security definer
set search_path = ''
as $$
  with forgotten as (
    delete from paywall.idempotent_answers where recorded_at <= now() - interval '24 hours' returning 1
  )
  select count(*) from forgotten
$$;
