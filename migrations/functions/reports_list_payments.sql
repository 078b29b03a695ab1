-- Adds the payments that begin in a range of positions, and brings the states of all payments with events in it up to date.
create or replace function reports.list_payments(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = ''
as $$
begin
  -- offset 0 keeps each body from being parsed once per column.
  insert into reports.payments (stream, reference, wallet, endpoint, state, paid_at)
  select e.stream, e.body ->> 'stream', e.body ->> 'wallet', e.body ->> 'endpoint', 'submitted', e.effective_at
  from (
    select e.stream, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'PaymentSubmitted'
    offset 0
  ) e
  on conflict (stream) do nothing;

  insert into reports.payments as known (
    stream, reference, wallet, endpoint, mint, state, paid_at, slot, price_micro_usd, required)
  select e.stream, e.body ->> 'stream', e.body #>> '{settlement,wallet}', e.body #>> '{settlement,price,endpoint}',
    e.body #>> '{settlement,price,mint}', 'claimed', e.effective_at, (e.body #>> '{settlement,evidence,slot}')::bigint,
    (e.body #>> '{settlement,price,priceMicroUsd}')::numeric, (e.body #>> '{settlement,price,requiredBaseUnits}')::numeric
  from (
    select e.stream, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'PaymentVerified'
    offset 0
  ) e
  on conflict (stream) do update set
    wallet = excluded.wallet, endpoint = excluded.endpoint, mint = excluded.mint, paid_at = excluded.paid_at,
    slot = excluded.slot, price_micro_usd = excluded.price_micro_usd, required = excluded.required;

  -- Usually the first event of its stream. Otherwise the payment was only submitted, or it was reversed and landed after all.
  insert into reports.payments as known (stream, reference, wallet, endpoint, mint, state, paid_at, slot)
  select e.stream, e.body ->> 'stream', coalesce(e.body ->> 'wallet', 'unknown'), 'unmatched', e.body ->> 'mint', 'unmatched',
    e.effective_at, (e.body ->> 'slot')::bigint
  from (
    select e.stream, e.effective_at, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq and e.kind = 'TransferReceived'
    offset 0
  ) e
  on conflict (stream) do update set mint = excluded.mint, slot = excluded.slot;

  -- The stream's state is that of the head, which may be ahead of this range; the ranges that follow set it again.
  update reports.payments p
  set state = split_part(s.state, '.', 1), is_final = s.state like '%.final', attempts = p.attempts + moved.claims,
    fulfilled_at = coalesce(moved.fulfilled_at, p.fulfilled_at), finalized_at = coalesce(moved.finalized_at, p.finalized_at),
    receipt = coalesce(moved.receipt, p.receipt)
  from (
    select e.stream, count(*) filter (where e.kind = 'ProofClaimed') as claims,
      max(e.recorded_at) filter (where e.kind = 'RequestFulfilled') as fulfilled_at,
      max(e.recorded_at) filter (where e.kind = 'PaymentFinalized') as finalized_at,
      -- A payment is delivered once.
      (array_agg(substr(e.leaf_hash, 1, 16)) filter (where e.kind = 'RequestFulfilled'))[1] as receipt
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq
    group by e.stream
  ) moved
  join ledger.streams s on s.stream = moved.stream
  where p.stream = moved.stream;
end
$$;

revoke execute on function reports.list_payments from public;
