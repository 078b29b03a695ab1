-- Why: a payment goes on after its answer (docs/decisions/0011). It becomes final, or is dropped with its fork, or is owed
-- back; tokens arrive that nobody claims; and what is owed is paid out, by another role than the service's.

do $$
begin
  create role tollbook_payout nologin;
exception
  when duplicate_object or unique_violation then null;
end
$$;
grant usage on schema ledger to tollbook_payout;

alter table ledger.payments drop constraint payments_state_is_known;
alter table ledger.payments add constraint payments_state_is_known
  check (state in ('submitted', 'verified', 'claimed', 'released', 'fulfilled', 'refund_due', 'reversed', 'unmatched'));
-- What stands in the book already is followed to finality like everything else.
alter table ledger.payments add column awaiting_finality boolean not null default false;
alter table ledger.payments add column exposed numeric(20, 0) not null default 0;
select set_config('ledger.writing', 'on', true);
update ledger.payments set awaiting_finality = true where state in ('verified', 'claimed', 'released', 'fulfilled');
select set_config('ledger.writing', 'off', true);
alter table ledger.payments add constraint payments_await_finality_once_verified
  check (not awaiting_finality or state in ('verified', 'claimed', 'released', 'fulfilled'));
alter table ledger.payments add constraint payments_expose_until_final check (exposed = 0 or awaiting_finality);
-- Those of which something is still to come: few, however long the book is.
create index payments_still_open on ledger.payments (created_at, signature)
  where awaiting_finality or state in ('verified', 'claimed', 'released');

-- The price of everything that was served, or is being served, for payments that the chain could still drop.
create table ledger.exposure (
  one boolean primary key default true,
  amount numeric(38, 0) not null,
  constraint exposure_is_one_row check (one),
  constraint exposure_is_no_debt check (amount >= 0)
);
insert into ledger.exposure (amount) values (0);
select ledger.protect_projection('ledger.exposure');

-- One row per transaction that paid out: it is recorded once.
create table ledger.payouts (
  signature text not null,
  plan_id text not null,
  part integer not null,
  seq bigint not null,
  leaf_hash bytea not null,
  recorded_at timestamptz not null,
  constraint payouts_signature_recorded_once primary key (signature)
);
select ledger.protect_log('ledger.payouts');

-- How far the payment wallet's token account has been searched for transfers that no payment explains. Not part of the
-- book: from an older place the search finds the same.
create table paywall.transfer_scans (
  token_account text primary key,
  signature text not null,
  slot bigint not null,
  scanned_at timestamptz not null
);

-- The life of a payment, enforced a second time. A live claim can only be taken over when its lease has ended by the
-- database's clock, whatever an instance believes; nothing that comes after the answer happens to a claimed payment.
drop function ledger.may_follow;
create function ledger.may_follow(
  known_state text, known_attempt integer, lease_ended boolean, known_awaiting boolean,
  next_state text, next_attempt integer, next_awaiting boolean)
returns boolean
language sql
immutable
as $$
  select case next_state
    when 'submitted' then known_state is null and next_attempt = 0
    when 'claimed' then next_attempt = coalesce(known_attempt, 0) + 1
      and next_awaiting = (known_state is null or known_state = 'submitted' or known_awaiting)
      and (known_state is null or known_state in ('submitted', 'verified', 'released') or (known_state = 'claimed' and lease_ended))
    when 'released' then next_attempt = known_attempt and (
      known_state = 'claimed' and next_awaiting = known_awaiting
      or known_state = 'released' and known_awaiting and not next_awaiting)
    when 'fulfilled' then next_attempt = known_attempt and (
      known_state = 'claimed' and next_awaiting = known_awaiting
      or known_state = 'fulfilled' and known_awaiting and not next_awaiting)
    when 'verified' then known_state = 'verified' and next_attempt = known_attempt and known_awaiting and not next_awaiting
    when 'reversed' then known_state in ('verified', 'released', 'fulfilled') and known_awaiting and next_attempt = known_attempt
    when 'refund_due' then known_state in ('verified', 'released') and not known_awaiting and next_attempt = known_attempt
    when 'unmatched' then (known_state is null or known_state in ('submitted', 'reversed')) and next_attempt = 0
    else false
  end
$$;

-- Takes the burns of payments that have just been reversed out of the hour, the day and the endpoint in which they were
-- counted. Counts stay what the chain says; the entries show the burn and its return.
create function ledger.take_back_burns(dropped bytea[], after_seq bigint) returns void
language sql
set search_path = ''
as $$
  with burned as (
    select burn.mint, known.endpoint, date_trunc('hour', happened.effective_at, 'UTC') as hour, burn.amount
    from ledger.payments known
    join ledger.events happened on happened.seq = any(known.seqs) and happened.kind = 'TokensBurned'
    join ledger.entries burn on burn.seq = happened.seq and burn.account = 'Expenses:Burned'
    where known.signature = any(dropped) and known.state = 'reversed' and known.seqs[known.version] > after_seq
  ),
  spans as (
    select b.mint, s.span, s.starts_at, s.endpoint, sum(b.amount) as amount, count(*) as payments
    from burned b
    cross join lateral (values
      ('all', '-infinity'::timestamptz, ''),
      ('all', '-infinity', b.endpoint),
      ('day', date_trunc('day', b.hour, 'UTC'), ''),
      ('hour', b.hour, '')
    ) as s (span, starts_at, endpoint)
    group by b.mint, s.span, s.starts_at, s.endpoint
  )
  update ledger.burn_totals known
  set burned = known.burned - s.amount, payments = known.payments - s.payments
  from spans s
  where (known.mint, known.span, known.starts_at, known.endpoint) = (s.mint, s.span, s.starts_at, s.endpoint)
$$;

drop function ledger.append;
-- Columns of three tables, as arrays: items (one payment's or the price list's events each), their events, their entries.
-- event_items and entry_events point into them, from 1; bodies are the events' bytes one after the other. Arrays, because
-- reading the same out of one JSON document took 1.0 ms of the 3.4 ms of a batch of 32 claims, and arrays take 0.3 ms.
-- One row for each item: its refusal, or its first position and its leaf hashes, 32 bytes each; the positions of an item
-- follow each other. Items of one batch are of different streams. One refused item never fails its neighbours.
create function ledger.append(
  streams text[], signatures bytea[], expected_versions integer[], states text[], awaiting boolean[], exposed numeric[], wallets text[], endpoints text[],
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
    from unnest(streams, signatures, expected_versions, states, awaiting, exposed, wallets, endpoints, attempts, leases_ms, quote_ids,
      idempotency_keys, order_digests, answers) with ordinality as i (
      stream, signature, expected, state, awaiting, exposed, wallet, endpoint, attempt, lease_ms, quote_id,
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
  -- What is owed to provider, holders, treasury and senders is paid out by ledger.record_payout alone, which another role
  -- may call: whoever takes over the service cannot write such debts off.
  overreaching as materialized (
    select event_items[t.e] as i
    from entry t
    where t.amount > 0
      and (t.account in ('Liabilities:Provider', 'Liabilities:Holders', 'Liabilities:Treasury')
        or t.account like 'Liabilities:RefundsDue:%' or t.account like 'Liabilities:Unmatched:%')
  ),
  judged as materialized (
    select item.*, known.seqs as known_seqs, coalesce(known.exposed, 0) as known_exposed,
      case
        when coalesce(known.version, list.version, 0) <> item.expected then 'conflict'
        when item.signature is not null and not coalesce(
          ledger.may_follow(known.state, known.attempt, known.lease_until <= stamp, known.awaiting_finality,
            item.state, item.attempt, item.awaiting), false) then 'conflict'
        -- Who stays in the same state has become final, and nothing else has happened.
        when item.state = known.state and item.state <> 'claimed'
          and exists (select from event e where e.i = item.n and e.kind <> 'PaymentFinalized') then 'conflict'
        when exists (select from unbalanced u where u.i = item.n) then 'unbalanced'
        when exists (select from overreaching o where o.i = item.n) then 'overreaching'
        when used.signature <> item.signature or used.order_digest <> item.order_digest
          or item.idempotency_key is not null and exists (
            select from item earlier
            where earlier.n < item.n and earlier.idempotency_key = item.idempotency_key and earlier.wallet = item.wallet)
          then 'idempotency_key_reused'
      end as refusal
    from item
    left join lateral (
      select p.version, p.state, p.attempt, p.lease_until, p.awaiting_finality, p.exposed, p.seqs
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
      signature, version, state, awaiting_finality, exposed, wallet, endpoint, attempt, lease_until, quote_id, seqs,
      created_at, updated_at)
    select j.signature, p.version, j.state, j.awaiting, j.exposed, j.wallet, j.endpoint, j.attempt,
      stamp + j.lease_ms * interval '1 millisecond', j.quote_id, coalesce(j.known_seqs, '{}') || p.positions, stamp, stamp
    from judged j
    join placed p on p.i = j.n
    where j.signature is not null
    on conflict (signature) do update set
      version = excluded.version, state = excluded.state, awaiting_finality = excluded.awaiting_finality,
      exposed = excluded.exposed, attempt = excluded.attempt, lease_until = excluded.lease_until,
      quote_id = coalesce(known.quote_id, excluded.quote_id), seqs = excluded.seqs, updated_at = excluded.updated_at
  ),
  move_exposure as (
    update ledger.exposure known
    set amount = known.amount + moved.amount
    from (
      select sum(j.exposed - j.known_exposed) as amount from judged j where j.refusal is null and j.signature is not null
    ) moved
    where known.one and moved.amount <> 0
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
    where p.account = 'Expenses:Burned' and p.amount > 0
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

  -- A burn that was dropped with its fork leaves the spans that it was counted in. Seldom, and so beside the statement.
  if 'PaymentReversed' = any(event_kinds) then
    perform ledger.take_back_burns(
      (select array_agg(signatures[event_items[k]]) from generate_subscripts(event_kinds, 1) k
        where event_kinds[k] = 'PaymentReversed'), head_seq);
  end if;

  perform set_config('ledger.writing', 'off', true);
end
$$;

-- The second way to write, for whoever pays out. It takes nothing but the body of one DistributionPaid: the entries are made of
-- what the body says, so the two cannot disagree. Under the lock of the head, never more is paid than is owed (of two that
-- pay the same debt the second is refused), and a signature is recorded once: whoever records it again is told where it is.
create function ledger.record_payout(body bytea)
returns table (refusal text, seq bigint, leaf_hash bytea, recorded_at timestamptz)
language plpgsql
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  said constant jsonb := convert_from(record_payout.body, 'UTF8')::jsonb;
  head_seq bigint;
  stamp timestamptz;
  leaf bytea;
  found_payout ledger.payouts;
begin
  if said ->> 'kind' is distinct from 'DistributionPaid' or said ->> 'version' is distinct from '1'
    or said ->> 'schemaVersion' is distinct from '1'
    or said ->> 'stream' is distinct from 'payout:' || (said ->> 'signature')
    or jsonb_array_length(said -> 'payments') = 0 then
    raise exception 'only a DistributionPaid is recorded here' using errcode = 'check_violation';
  end if;
  if exists (
    select
    from jsonb_array_elements(said -> 'payments') as p (paid)
    where (p.paid ->> 'account') !~ '^Liabilities:(Provider|Holders|Treasury|(Overpaid|RefundsDue|Unmatched):[1-9A-HJ-NP-Za-km-z]{32,44})$'
      or (p.paid ->> 'paidBaseUnits')::numeric <= 0
  ) then
    raise exception 'only what is owed is paid out' using errcode = 'check_violation';
  end if;

  select h.seq, greatest(h.recorded_at, date_trunc('milliseconds', clock_timestamp()))
    into strict head_seq, stamp
    from ledger.head h
    where h.one
    for update;
  select p.* into found_payout from ledger.payouts p where p.signature = said ->> 'signature';
  if found then
    return query select null::text, found_payout.seq, found_payout.leaf_hash, found_payout.recorded_at;
    return;
  end if;
  -- A debt is a negative balance; paying it may bring it to nothing and no further.
  if exists (
    select
    from (
      select p.paid ->> 'account' as account, sum((p.paid ->> 'paidBaseUnits')::numeric) as amount
      from jsonb_array_elements(said -> 'payments') as p (paid)
      group by 1
    ) owed
    left join ledger.balances b on b.mint = said ->> 'mint' and b.account = owed.account
    where coalesce(b.balance, 0) + owed.amount > 0
  ) then
    return query select 'more_than_owed', null::bigint, null::bytea, null::timestamptz;
    return;
  end if;

  perform set_config('ledger.writing', 'on', true);
  -- RFC 6962, as in ledger.append.
  leaf := sha256('\x00'::bytea || int8send(head_seq + 1) || int8send((extract(epoch from stamp) * 1000)::bigint) || record_payout.body);
  insert into ledger.events (seq, stream, version, kind, schema_version, recorded_at, effective_at, body, leaf_hash)
  values (head_seq + 1, said ->> 'stream', 1, 'DistributionPaid', 1, stamp, (said ->> 'effectiveAt')::timestamptz,
    record_payout.body, leaf);
  with side as (
    select (2 * (p.n - 1))::smallint as line, p.paid ->> 'account' as account, (p.paid ->> 'paidBaseUnits')::numeric as amount
    from jsonb_array_elements(said -> 'payments') with ordinality as p (paid, n)
    union all
    select (2 * p.n - 1)::smallint, 'Assets:PaymentWallet', -(p.paid ->> 'paidBaseUnits')::numeric
    from jsonb_array_elements(said -> 'payments') with ordinality as p (paid, n)
  ),
  log_entries as (
    insert into ledger.entries (seq, line, account, mint, amount)
    select head_seq + 1, s.line, s.account, said ->> 'mint', s.amount from side s
  )
  insert into ledger.balances as known (mint, account, balance, entries, upto_seq)
  select said ->> 'mint', s.account, sum(s.amount), count(*), head_seq + 1 from side s group by s.account
  on conflict (mint, account) do update set
    balance = known.balance + excluded.balance, entries = known.entries + excluded.entries, upto_seq = excluded.upto_seq;
  insert into ledger.payouts (signature, plan_id, part, seq, leaf_hash, recorded_at)
  values (said ->> 'signature', said ->> 'planId', (said ->> 'part')::integer, head_seq + 1, leaf, stamp);
  update ledger.head h set seq = head_seq + 1, recorded_at = stamp where h.one;
  perform set_config('ledger.writing', 'off', true);
  return query select null::text, head_seq + 1, leaf, stamp;
end
$$;

-- Forward only: an instance that is late does not bring the search back.
create function paywall.move_transfer_scan(token_account text, signature text, slot bigint) returns void
language sql
security definer
set search_path = ''
as $$
  insert into paywall.transfer_scans as known (token_account, signature, slot, scanned_at)
  values (token_account, signature, slot, clock_timestamp())
  on conflict (token_account) do update set
    signature = excluded.signature, slot = excluded.slot, scanned_at = excluded.scanned_at
  where excluded.slot >= known.slot
$$;

grant select on ledger.exposure, ledger.payouts to tollbook_service, tollbook_reader;
grant select on ledger.head, ledger.balances, ledger.payouts, ledger.payments to tollbook_payout;
grant select on paywall.transfer_scans to tollbook_service;
revoke execute on all functions in schema ledger, paywall from public;
grant execute on function ledger.append to tollbook_service;
grant execute on function paywall.move_transfer_scan to tollbook_service;
grant execute on function ledger.record_payout to tollbook_payout;
