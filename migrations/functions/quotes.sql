-- Quotes are recorded by group commit, as events are.
create or replace function ledger.record_quotes(
  ids text[], wallets text[], endpoints text[], memos text[], price_lists integer[], mints text[], required numeric[],
  issued_ms bigint[], expires_ms bigint[], slots bigint[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('ledger.writing', 'on', true);
  insert into ledger.quotes (id, wallet, endpoint, memo, price_list, mint, required, issued_at, expires_at, slot)
  select q.id, q.wallet, q.endpoint, q.memo, q.price_list, q.mint, q.required,
    timestamptz 'epoch' + q.issued_ms * interval '1 millisecond',
    timestamptz 'epoch' + q.expires_ms * interval '1 millisecond', q.slot
  from unnest(ids, wallets, endpoints, memos, price_lists, mints, required, issued_ms, expires_ms, slots) as q (
    id, wallet, endpoint, memo, price_list, mint, required, issued_ms, expires_ms, slot);
  perform set_config('ledger.writing', 'off', true);
end
$$;
grant execute on function ledger.record_quotes to tollbook_service;

-- The cheapest quote, then the newest, that was open when the payment landed. A quote lives a day at most and clocks differ
-- by less, so the lookup touches the partitions of three days: the plan is made for the values, which prunes the others.
create or replace function ledger.find_open_quote(
  paying_wallet text, paid_endpoint text, landed_at timestamptz, landed_slot bigint, grace interval)
returns setof ledger.quotes
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select q.*
  from ledger.quotes q
  where q.wallet = paying_wallet and q.endpoint = paid_endpoint
    and q.issued_at > landed_at - interval '24 hours' and q.issued_at < landed_at + interval '24 hours'
    and q.slot <= landed_slot and q.expires_at > landed_at - grace
  order by q.required, q.issued_at desc
  limit 1;
end
$$;
grant execute on function ledger.find_open_quote to tollbook_service;

-- The quote that a payment with this memo pays. A memo is public once its payment is on chain, and a caller of the payment page
-- chooses its own: several quotes may have it. The cheapest that was open when the payment landed counts, as for a payment
-- without a memo. If none was open, another quote with the memo is returned: the payment then has the price of its day.
create or replace function ledger.find_bound_quote(
  paying_wallet text, paid_endpoint text, wanted_memo text, landed_at timestamptz, landed_slot bigint, grace interval)
returns setof ledger.quotes
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select q.*
  from ledger.quotes q
  where q.wallet = paying_wallet and q.endpoint = paid_endpoint and q.memo = wanted_memo
    and q.issued_at > landed_at - interval '24 hours' and q.issued_at < landed_at + interval '24 hours'
  order by q.slot <= landed_slot desc, q.expires_at > landed_at - grace desc, q.required, q.issued_at desc
  limit 1;
end
$$;
grant execute on function ledger.find_bound_quote to tollbook_service;
