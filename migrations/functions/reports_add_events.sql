-- Adds the events of a range of positions to the tables of the reports. One pass: each event is read once, each row of a
-- table is written once. Only reports.payouts and reports.refunds have separate functions.
--
-- Rows of large tables are found by lateral lookups (`offset 0`), which can only be loops over an index. The settings of
-- reports.roll_up turn every other join into a hash join, so one plan serves a range of any size in a ledger of any size.
create or replace function reports.add_events(from_seq bigint, to_seq bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Columns that many steps read come first: PostgreSQL decodes a row up to the last column that a step needs.
  with event as materialized (
    select e.seq, e.stream, (e.effective_at at time zone 'UTC')::date as day,
      -- No month closes within a day, and the second comparison costs 2 microseconds.
      e.recorded_at - e.effective_at >= interval '1 day' and e.recorded_at >= reports.month_closed_at(e.effective_at) as is_late,
      e.debits, e.credits, e.amounts, e.kind, e.effective_at, e.recorded_at,
      case when e.kind in ('RequestFulfilled', 'TabCaptured') then substr(e.leaf_hash, 1, 16) end as receipt,
      case when e.kind in ('PaymentSubmitted', 'PaymentVerified', 'TransferReceived', 'TabDebited', 'TabClosed')
        then convert_from(e.body, 'UTF8')::jsonb end as body
    from ledger.events e
    where e.seq > from_seq and e.seq <= to_seq
  ),
  touched as materialized (
    select e.stream,
      -- Each payment counts once, and no longer when it is reversed. Null: neither happened here.
      sum(case e.kind when 'PaymentVerified' then 1 when 'PaymentReversed' then -1 end) as payments,
      count(*) filter (where e.kind in ('ProofClaimed', 'TabDebited')) as claims,
      max(e.recorded_at) filter (where e.receipt is not null) as fulfilled_at,
      max(e.recorded_at) filter (where e.kind = 'PaymentFinalized') as finalized_at,
      -- A payment is delivered once.
      (array_agg(e.receipt) filter (where e.receipt is not null))[1] as receipt
    from event e
    group by e.stream
  ),
  -- A stream has each of these events at most once. A debit that is tried again keeps the price of its first attempt.
  facts as materialized (
    select e.stream, max(e.body ->> 'stream') as reference,
      max(e.effective_at) filter (where e.is_price) as paid_at,
      max(e.paid ->> 'wallet') filter (where e.is_price) as wallet,
      max(e.paid #>> '{price,endpoint}') filter (where e.is_price) as endpoint,
      max(e.paid #>> '{price,mint}') filter (where e.is_price) as mint,
      max((e.paid #>> '{evidence,slot}')::bigint) filter (where e.is_price) as slot,
      max((e.paid #>> '{price,priceMicroUsd}')::numeric) filter (where e.is_price) as price_micro_usd,
      max((e.paid #>> '{price,requiredBaseUnits}')::numeric) filter (where e.is_price) as required,
      -- Verified before the close of its month. A closed month keeps its prices.
      bool_or(not e.is_late) filter (where e.kind = 'PaymentVerified') as is_pricing,
      max(e.effective_at) filter (where e.kind = 'PaymentSubmitted') as submitted_at,
      max(e.body ->> 'wallet') filter (where e.kind = 'PaymentSubmitted') as submitted_wallet,
      max(e.body ->> 'endpoint') filter (where e.kind = 'PaymentSubmitted') as submitted_endpoint,
      max(e.effective_at) filter (where e.kind = 'TransferReceived') as received_at,
      max(coalesce(e.body ->> 'wallet', 'unknown')) filter (where e.kind = 'TransferReceived') as received_wallet,
      max(e.body ->> 'mint') filter (where e.kind = 'TransferReceived') as received_mint,
      max((e.body ->> 'slot')::bigint) filter (where e.kind = 'TransferReceived') as received_slot,
      -- The rest of a closed tab is owed to its wallet.
      max(e.effective_at) filter (where e.kind = 'TabClosed') as closed_at,
      max(e.body ->> 'wallet') filter (where e.kind = 'TabClosed') as closed_wallet,
      max(e.body ->> 'mint') filter (where e.kind = 'TabClosed') as closed_mint
    from (
      select e.stream, e.kind, e.is_late, e.effective_at, e.body, coalesce(e.body -> 'settlement', e.body) as paid,
        e.kind in ('PaymentVerified', 'TabDebited') as is_price
      from event e
      where e.body is not null and (e.kind <> 'TabDebited' or e.body ->> 'attempt' = '1')
      offset 0
    ) e
    group by e.stream
  ),
  -- Each stream of the range, with its row of reports.payments as it will be; the amounts are those of the row as it is.
  -- A verification replaces what a submission stated. A transfer without a request replaces neither.
  known as materialized (
    select t.stream, s.kind, p.stream is not null or f.stream is not null as is_payment,
      -- A debit is a sale once it is captured.
      case when s.kind <> 'tab_request' then t.payments when t.fulfilled_at is not null then 1 end as payments,
      coalesce(f.received_mint, f.mint, f.closed_mint, p.mint) as mint,
      -- Tokens that no request bought are owed to their owner, who may be another wallet than the one that sent the request.
      coalesce(f.wallet, case when p.mint is null then f.received_wallet end, p.wallet, f.submitted_wallet, f.closed_wallet) as wallet,
      coalesce(f.endpoint, p.endpoint, f.submitted_endpoint, case when f.received_at is not null then 'unmatched' end,
        case when f.closed_at is not null then '/api/tabs' end) as endpoint,
      (coalesce(f.paid_at, p.paid_at, f.submitted_at, f.received_at, f.closed_at) at time zone 'UTC')::date as paid_day,
      coalesce(f.price_micro_usd, p.price_micro_usd) as price_micro_usd, coalesce(f.required, p.required) as required, f.is_pricing,
      -- The state of the head, which may be ahead of this range; the ranges that follow set it again.
      case s.state when 'debited' then 'claimed' when 'captured' then 'fulfilled' else split_part(s.state, '.', 1) end as state,
      s.state like '%.final' as is_final,
      coalesce(p.reference, f.reference) as reference, coalesce(p.attempts, 0) + t.claims as attempts,
      coalesce(f.paid_at, p.paid_at, f.submitted_at, f.received_at, f.closed_at) as paid_at,
      coalesce(t.fulfilled_at, p.fulfilled_at) as fulfilled_at, coalesce(t.finalized_at, p.finalized_at) as finalized_at,
      case when f.received_at is not null then f.received_slot else coalesce(f.slot, p.slot) end as slot,
      coalesce(t.receipt, p.receipt) as receipt,
      p.received, p.burned, p.burn_owed, p.lost, p.unearned, p.owed, p.prepaid, p.shares
    from touched t
    left join facts f on f.stream = t.stream
    cross join lateral (select s.kind, s.state from ledger.streams s where s.stream = t.stream offset 0) s
    left join lateral (select p.* from reports.payments p where p.stream = t.stream offset 0) p on true
  ),
  move_prices as (
    insert into reports.day_prices as known (mint, day, price_micro_usd, required, payments)
    select p.mint, p.paid_day, sum(p.price_micro_usd), sum(p.required), count(*)
    from known p
    where p.is_pricing and p.price_micro_usd > 0 and p.required > 0
    group by p.mint, p.paid_day
    on conflict (mint, day) do update set
      price_micro_usd = known.price_micro_usd + excluded.price_micro_usd, required = known.required + excluded.required,
      payments = known.payments + excluded.payments
  ),
  posting as materialized (
    select e.seq, e.stream, e.day, e.is_late, e.kind, e.is_payment, e.mint, e.endpoint, e.debit, e.credit, e.amount,
      -- Computed for each posting, so that ranges of positions add up; div drops what is less than 10^-12 dollars.
      coalesce(div(e.amount * e.price_micro_usd * 1000000, e.required), 0) as value
    from (
      select e.seq, e.stream, e.day, e.is_late, p.kind, p.is_payment, p.mint, case when p.is_payment then p.endpoint else '' end as endpoint,
        p.price_micro_usd, p.required, unnest(e.debits) as debit, unnest(e.credits) as credit, unnest(e.amounts) as amount
      from event e
      join known p on p.stream = e.stream
      where e.amounts is not null
      offset 0
    ) e
  ),
  -- Few rows: the accounts of a range are few, and so the names of accounts are read once each.
  moved as materialized (
    select p.day, p.kind, p.mint as paid_mint, p.endpoint, p.debit, p.credit, sum(p.amount) as amount, sum(p.value) as value
    from posting p
    group by p.day, p.kind, p.mint, p.endpoint, p.debit, p.credit
  ),
  -- Memo accounts are not money and are left out, as in reports.posted.
  chart as materialized (
    select c.account, a.mint, a.line, a.share, a.endpoint
    from (select m.debit as account from moved m union select m.credit from moved m) c
    cross join lateral (
      select a.mint, case when starts_with(a.name, 'Expenses:Burned:') then substr(a.name, 17) end as endpoint,
        case when starts_with(a.name, 'Liabilities:Share:') then a.name
          else split_part(a.name, ':', 1) || ':' || split_part(a.name, ':', 2) end as line,
        case when starts_with(a.name, 'Liabilities:Share:') then substr(a.name, 19) end as share
      from ledger.accounts a
      where a.id = c.account and not starts_with(a.name, 'Memo:')
      offset 0
    ) a
  ),
  move_days as (
    insert into reports.daily_totals as known (mint, day, kind, endpoint, account, debits, credits, payments, value_pico_usd)
    select m.mint, coalesce(m.day, '-infinity'), m.kind, m.endpoint, m.line, sum(m.debits), sum(m.credits), sum(m.payments), sum(m.value)
    from (
      select a.mint, m.day, m.kind, coalesce(a.endpoint, m.endpoint) as endpoint, a.line, m.amount as debits, 0 as credits,
        -- The burn in tokens that a sale in dollars owes has no value by the price of its payment.
        0 as payments, case when a.mint = m.paid_mint then m.value else 0 end as value
      from moved m
      join chart a on a.account = m.debit
      union all
      select a.mint, m.day, m.kind, coalesce(a.endpoint, m.endpoint), a.line, 0, m.amount, 0, case when a.mint = m.paid_mint then -m.value else 0 end
      from moved m
      join chart a on a.account = m.credit
      union all
      -- On the day the payment was made, as its burn.
      select p.mint, p.paid_day, 'payment', p.endpoint, 'Assets:PaymentWallet', 0, 0, sum(p.payments), 0
      from known p
      where p.payments is not null
      group by p.mint, p.paid_day, p.endpoint
    ) m
    group by m.mint, m.kind, m.endpoint, m.line, rollup (m.day)
    on conflict (mint, day, kind, endpoint, account) do update set
      debits = known.debits + excluded.debits, credits = known.credits + excluded.credits,
      payments = known.payments + excluded.payments, value_pico_usd = known.value_pico_usd + excluded.value_pico_usd
  ),
  note_late as (
    insert into reports.late_entries (seq, mint, day, kind, endpoint, account, debits, credits, value_pico_usd)
    select p.seq, a.mint, p.day, p.kind, coalesce(a.endpoint, p.endpoint), a.line, sum(p.debits), sum(p.credits),
      sum(case when a.mint = p.mint then p.value else 0 end)
    from (
      select p.seq, p.day, p.kind, p.mint, p.endpoint, p.debit as account, p.amount as debits, 0 as credits, p.value
      from posting p where p.is_late
      union all
      select p.seq, p.day, p.kind, p.mint, p.endpoint, p.credit, 0, p.amount, -p.value from posting p where p.is_late
    ) p
    join chart a on a.account = p.account
    group by p.seq, a.mint, p.day, p.kind, coalesce(a.endpoint, p.endpoint), a.line
  ),
  -- The postings of payments in their own mint, and a row for each payment that is counted.
  part as materialized (
    select p.stream, p.day, d.line as debit, c.line as credit, d.share as debit_share, c.share as credit_share, p.amount, 0 as payments
    from posting p
    left join chart d on d.account = p.debit
    left join chart c on c.account = p.credit
    where p.is_payment and coalesce(d.mint, c.mint) = p.mint
    union all
    select p.stream, p.paid_day, null, null, null, null, 0, p.payments from known p where p.payments is not null
  ),
  shared as materialized (
    select s.stream, s.day, jsonb_object_agg(s.share, s.amount) as shares
    from (
      select p.stream, p.day, p.share, sum(p.amount) as amount
      from (
        select p.stream, p.day, p.credit_share as share, p.amount from part p where p.credit_share is not null
        union all
        select p.stream, p.day, p.debit_share, -p.amount from part p where p.debit_share is not null
      ) p
      group by p.stream, p.day, p.share
    ) s
    group by s.stream, s.day
  ),
  summed as (
    select p.stream, p.day, sum(p.payments) as payments,
      coalesce(sum(p.amount) filter (where p.debit = 'Assets:PaymentWallet'), 0)
        - coalesce(sum(p.amount) filter (where p.credit = 'Assets:PaymentWallet'), 0) as received,
      coalesce(sum(p.amount) filter (where p.debit = 'Expenses:Burned'), 0)
        - coalesce(sum(p.amount) filter (where p.credit = 'Expenses:Burned'), 0) as burned,
      coalesce(sum(p.amount) filter (where p.credit = 'Liabilities:BurnOwed'), 0)
        - coalesce(sum(p.amount) filter (where p.debit = 'Liabilities:BurnOwed'), 0) as burn_owed,
      coalesce(sum(p.amount) filter (where p.debit = 'Expenses:ReversedPayments'), 0)
        - coalesce(sum(p.amount) filter (where p.credit = 'Expenses:ReversedPayments'), 0) as lost,
      coalesce(sum(p.amount) filter (where p.credit = 'Liabilities:Unearned'), 0)
        - coalesce(sum(p.amount) filter (where p.debit = 'Liabilities:Unearned'), 0) as unearned,
      coalesce(sum(p.amount) filter (where p.credit = 'Liabilities:Prepaid'), 0)
        - coalesce(sum(p.amount) filter (where p.debit = 'Liabilities:Prepaid'), 0) as prepaid,
      -- Every other liability without a share.
      coalesce(sum(p.amount) filter (where p.credit like 'Liabilities:%' and p.credit_share is null
          and p.credit not in ('Liabilities:Unearned', 'Liabilities:BurnOwed', 'Liabilities:Prepaid')), 0)
        - coalesce(sum(p.amount) filter (where p.debit like 'Liabilities:%' and p.debit_share is null
          and p.debit not in ('Liabilities:Unearned', 'Liabilities:BurnOwed', 'Liabilities:Prepaid')), 0) as owed
    from part p
    group by p.stream, p.day
  ),
  -- One row per payment and day, with the net of its entries.
  net as materialized (
    select n.*, p.mint, p.wallet, p.endpoint, p.paid_day, s.shares
    from summed n
    join known p on p.stream = n.stream
    left join shared s on s.stream = n.stream and s.day = n.day
  ),
  -- Shares are objects, because a split may have any number of them. The known object is read here and written whole;
  -- no other session writes between the two, because the roll-up has the lock of reports.progress.
  move_wallets as (
    insert into reports.wallet_totals as known (mint, wallet, day, payments, received, burned, burn_owed, lost, shares)
    select w.mint, w.wallet, w.day, w.payments, w.received, w.burned, w.burn_owed, w.lost,
      coalesce(case when w.shares is not null then (
        select jsonb_object_agg(k.share, k.amount)
        from (
          select s.share, sum(s.amount::numeric) as amount
          from unnest(w.shares || (
            select o.shares from reports.wallet_totals o where o.mint = w.mint and o.wallet = w.wallet and o.day = w.day)) as m (shares)
          cross join lateral jsonb_each(m.shares) as s (share, amount)
          group by s.share
        ) k) end, '{}')
    from (
      select n.mint, n.wallet, n.day, sum(n.payments) as payments, sum(n.received) as received, sum(n.burned) as burned,
        sum(n.burn_owed) as burn_owed, sum(n.lost) as lost, array_agg(n.shares) filter (where n.shares is not null) as shares
      from net n
      group by n.mint, n.wallet, n.day
    ) w
    on conflict (mint, wallet, day) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed, lost = known.lost + excluded.lost,
      shares = case when excluded.shares = '{}' then known.shares else excluded.shares end
  ),
  -- Each payment belongs to three sums: its wallet on its day, all wallets on its day, and all days.
  move_totals as (
    insert into reports.payment_totals as known (
      mint, wallet, day, endpoint, payments, received, burned, burn_owed, lost, unearned, owed, prepaid, shares)
    select t.mint, t.wallet, t.day, t.endpoint, t.payments, t.received, t.burned, t.burn_owed, t.lost, t.unearned, t.owed, t.prepaid,
      coalesce(case when t.shares is not null then (
        select jsonb_object_agg(k.share, k.amount)
        from (
          select s.share, sum(s.amount::numeric) as amount
          from unnest(t.shares || (
            select o.shares from reports.payment_totals o
            where o.mint = t.mint and o.wallet = t.wallet and o.day = t.day and o.endpoint = t.endpoint)) as m (shares)
          cross join lateral jsonb_each(m.shares) as s (share, amount)
          group by s.share
        ) k) end, '{}')
    from (
      select n.mint, coalesce(n.wallet, '') as wallet, coalesce(n.paid_day, '-infinity') as day, n.endpoint, sum(n.payments) as payments,
        sum(n.received) as received, sum(n.burned) as burned, sum(n.burn_owed) as burn_owed, sum(n.lost) as lost,
        sum(n.unearned) as unearned, sum(n.owed) as owed, sum(n.prepaid) as prepaid,
        array_agg(n.shares) filter (where n.shares is not null) as shares
      from net n
      group by n.mint, n.endpoint, rollup (n.paid_day, n.wallet)
    ) t
    on conflict (mint, wallet, day, endpoint) do update set
      payments = known.payments + excluded.payments, received = known.received + excluded.received,
      burned = known.burned + excluded.burned, burn_owed = known.burn_owed + excluded.burn_owed, lost = known.lost + excluded.lost,
      unearned = known.unearned + excluded.unearned, owed = known.owed + excluded.owed, prepaid = known.prepaid + excluded.prepaid,
      shares = case when excluded.shares = '{}' then known.shares else excluded.shares end
  ),
  amounts as (
    select n.stream, sum(n.received) as received, sum(n.burned) as burned, sum(n.burn_owed) as burn_owed, sum(n.lost) as lost,
      sum(n.unearned) as unearned, sum(n.owed) as owed, sum(n.prepaid) as prepaid,
      array_agg(n.shares) filter (where n.shares is not null) as shares
    from net n
    group by n.stream
  )
  insert into reports.payments (
    stream, reference, wallet, endpoint, mint, state, is_final, attempts, paid_at, fulfilled_at, finalized_at, slot,
    price_micro_usd, required, received, burned, burn_owed, lost, unearned, owed, prepaid, shares, receipt)
  select p.stream, p.reference, p.wallet, p.endpoint, p.mint, p.state, p.is_final, p.attempts, p.paid_at, p.fulfilled_at, p.finalized_at,
    p.slot, p.price_micro_usd, p.required, coalesce(p.received, 0) + coalesce(a.received, 0),
    coalesce(p.burned, 0) + coalesce(a.burned, 0), coalesce(p.burn_owed, 0) + coalesce(a.burn_owed, 0),
    coalesce(p.lost, 0) + coalesce(a.lost, 0), coalesce(p.unearned, 0) + coalesce(a.unearned, 0),
    coalesce(p.owed, 0) + coalesce(a.owed, 0), coalesce(p.prepaid, 0) + coalesce(a.prepaid, 0),
    case
      when a.shares is null then coalesce(p.shares, '{}')
      -- Nearly every payment gets its shares once.
      when cardinality(a.shares) = 1 and coalesce(p.shares, '{}') = '{}' then a.shares[1]
      else (
        select jsonb_object_agg(k.share, k.amount)
        from (
          select s.share, sum(s.amount::numeric) as amount
          from unnest(a.shares || p.shares) as m (shares)
          cross join lateral jsonb_each(m.shares) as s (share, amount)
          group by s.share
        ) k)
    end, p.receipt
  from known p
  left join amounts a on a.stream = p.stream
  where p.is_payment
  on conflict (stream) do update set
    wallet = excluded.wallet, endpoint = excluded.endpoint, mint = excluded.mint, state = excluded.state, is_final = excluded.is_final,
    attempts = excluded.attempts, paid_at = excluded.paid_at, fulfilled_at = excluded.fulfilled_at, finalized_at = excluded.finalized_at,
    slot = excluded.slot, price_micro_usd = excluded.price_micro_usd, required = excluded.required, received = excluded.received,
    burned = excluded.burned, burn_owed = excluded.burn_owed, lost = excluded.lost, unearned = excluded.unearned,
    owed = excluded.owed, prepaid = excluded.prepaid, shares = excluded.shares, receipt = excluded.receipt;
end
$$;

revoke execute on function reports.add_events from public;
