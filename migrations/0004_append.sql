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

-- batch: {items: [{n, stream, signature (hex) or null, expected, version, state, wallet, endpoint, attempt, lease_ms,
--   quote_id, idempotency_key, order_digest, answer}],
--   events: [{i (item), k (within the item), version, kind, schema_version, effective_at, start, length}],
--   entries: [{i, k, line, account, mint, amount}]}
-- bodies: the events' bodies one after the other; start and length are bytes. Bytes of their own, because escaping them
--   into the JSON and out again cost a third of the whole call.
-- Items of one batch are of different streams. One refused item never fails its neighbours.
create function ledger.append(batch jsonb, bodies bytea)
returns table (n integer, refusal text, recorded_at timestamptz, positions bigint[], leaf_hashes bytea[])
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
  stamp_ms bigint;
begin
  perform set_config('ledger.writing', 'on', true);
  -- From here to the commit nobody else assigns positions: the order of positions is the order of commits.
  select h.seq, greatest(h.recorded_at, date_trunc('milliseconds', clock_timestamp()))
    into strict head_seq, stamp
    from ledger.head h
    for update;
  stamp_ms := (extract(epoch from stamp) * 1000)::bigint;

  return query
  with item as materialized (
    select * from jsonb_to_recordset(batch -> 'items') as i (
      n integer, stream text, signature text, expected integer, version integer, state text, wallet text, endpoint text,
      attempt integer, lease_ms integer, quote_id text, idempotency_key text, order_digest text, answer text)
  ),
  event as materialized (
    select * from jsonb_to_recordset(batch -> 'events') as e (
      i integer, k integer, version integer, kind text, schema_version smallint, effective_at timestamptz, start integer, length integer)
  ),
  entry as materialized (
    select * from jsonb_to_recordset(batch -> 'entries') as t (
      i integer, k integer, line smallint, account text, mint text, amount numeric)
  ),
  unbalanced as materialized (
    select distinct t.i from entry t group by t.i, t.k, t.mint having sum(t.amount) <> 0
  ),
  judged as materialized (
    select item.*, decode(item.signature, 'hex') as signature_bytes, known.seqs as known_seqs,
      case
        when coalesce(known.version, list.version, 0) <> item.expected then 'conflict'
        when item.signature is not null and not coalesce(
          ledger.may_follow(known.state, known.attempt, known.lease_until <= stamp, item.state, item.attempt), false) then 'conflict'
        when exists (select from unbalanced u where u.i = item.n) then 'unbalanced'
        when used.signature <> decode(item.signature, 'hex') or used.order_digest <> item.order_digest
          or row_number() over (partition by item.wallet, item.idempotency_key order by item.n) > 1 and item.idempotency_key is not null
          then 'idempotency_key_reused'
      end as refusal
    from item
    left join lateral (
      select p.version, p.state, p.attempt, p.lease_until, p.seqs
      from ledger.payments p
      where p.signature = decode(item.signature, 'hex')
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
      head_seq + row_number() over (order by event.i, event.k) as seq,
      substring(bodies from event.start + 1 for event.length) as bytes
    from event
    join judged on judged.n = event.i
    where judged.refusal is null
  ),
  hashed as materialized (
    -- RFC 6962: sha256(0x00 || entry), the entry being position, time and body (src/ledger/leaf.ts).
    select numbered.*, sha256('\x00'::bytea || int8send(numbered.seq) || int8send(stamp_ms) || numbered.bytes) as leaf_hash
    from numbered
  ),
  placed as materialized (
    select h.i, array_agg(h.seq order by h.k) as positions, array_agg(h.leaf_hash order by h.k) as leaf_hashes
    from hashed h
    group by h.i
  ),
  posted as materialized (
    select h.seq, h.effective_at, h.endpoint, t.line, t.account, t.mint, t.amount
    from entry t
    join hashed h on h.i = t.i and h.k = t.k
  ),
  log_events as (
    insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
    select h.seq, h.stream, h.version, h.kind, h.schema_version, stamp, h.effective_at, h.bytes, h.leaf_hash from hashed h
  ),
  log_entries as (
    insert into ledger.entries (seq, line, account, mint, amount)
    select p.seq, p.line, p.account, p.mint, p.amount from posted p
  ),
  log_prices as (
    insert into ledger.price_lists (version, seq, effective_at, body)
    select h.version, h.seq, h.effective_at, h.bytes from hashed h where h.kind = 'PriceListPublished'
  ),
  move_payments as (
    insert into ledger.payments as known (
      signature, version, state, wallet, endpoint, attempt, lease_until, quote_id, seqs, created_at, updated_at)
    select j.signature_bytes, j.version, j.state, j.wallet, j.endpoint, j.attempt,
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
  move_burns as (
    insert into ledger.burn_totals as known (mint, span, starts_at, endpoint, burned, payments)
    select p.mint, s.span, s.starts_at, s.endpoint, sum(p.amount), count(*)
    from posted p
    cross join lateral (values
      ('all', '-infinity'::timestamptz, ''),
      ('all', '-infinity', p.endpoint),
      ('day', date_trunc('day', p.effective_at, 'UTC'), ''),
      ('hour', date_trunc('hour', p.effective_at, 'UTC'), '')
    ) as s (span, starts_at, endpoint)
    where p.account = 'Expenses:Burned'
    group by p.mint, s.span, s.starts_at, s.endpoint
    on conflict (mint, span, starts_at, endpoint) do update set
      burned = known.burned + excluded.burned, payments = known.payments + excluded.payments
  ),
  keep_answers as (
    insert into paywall.idempotent_answers as known (
      wallet, key, signature, order_digest, recorded_at, answer, fulfilled_seq, fulfilled_leaf, fulfilled_at)
    select j.wallet, j.idempotency_key, j.signature_bytes, j.order_digest, stamp, j.answer,
      case when j.answer is not null then p.positions[1] end,
      case when j.answer is not null then p.leaf_hashes[1] end,
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
    update ledger.head h set seq = head_seq + (select count(*) from hashed), recorded_at = stamp
  )
  select j.n, j.refusal, stamp, p.positions, p.leaf_hashes
  from judged j
  left join placed p on p.i = j.n;

  perform set_config('ledger.writing', 'off', true);
end
$$;

-- Quotes are append-only too, but not events: anybody can ask for one.
create function ledger.record_quotes(batch jsonb) returns void
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
    q.provider, q.holders, q.treasury, q.issued_at, q.expires_at, q.slot
  from jsonb_to_recordset(batch) as q (
    id text, wallet text, endpoint text, memo text, price_micro_usd bigint, token_price_atto_usd numeric, mint text,
    decimals smallint, required numeric, burn numeric, provider numeric, holders numeric, treasury numeric,
    issued_at timestamptz, expires_at timestamptz, slot bigint);
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
