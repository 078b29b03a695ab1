/*
 * Derives the report tables (docs/finance.md) at once from all events up to the position of the reports. The service
 * adds ranges of positions instead. Postgres computes the sums, because a ledger may have as many wallets as payments.
 */

/** Derives one row for each stream in the list of payments: payments, unmatched transfers, debits and closed tabs. */
const listed = `
said as materialized (
  select e.stream, e.kind, e.effective_at, b.body ->> 'stream' as reference,
    coalesce(b.body ->> 'wallet', b.body #>> '{settlement,wallet}') as wallet,
    case when e.kind = 'TabClosed' then '/api/tabs' else coalesce(b.body ->> 'endpoint', b.price ->> 'endpoint') end as endpoint,
    coalesce(b.body ->> 'mint', b.price ->> 'mint') as mint,
    -- A debit has the slot of its deposit, but has not landed itself.
    case when e.kind <> 'TabDebited' then coalesce(b.body ->> 'slot', b.body #>> '{settlement,evidence,slot}')::bigint end as slot,
    (b.price ->> 'priceMicroUsd')::numeric as price_micro_usd, (b.price ->> 'requiredBaseUnits')::numeric as required
  from ledger.events e
  cross join lateral (
    select j.body, coalesce(j.body #> '{settlement,price}', j.body -> 'price') as price
    from (select convert_from(e.body, 'UTF8')::jsonb as body) j
    offset 0
  ) b
  where e.seq <= (select upto.seq from upto)
    and (e.kind in ('PaymentSubmitted', 'PaymentVerified', 'TransferReceived', 'TabClosed')
      -- A debit that is tried again keeps the price of its first attempt.
      or e.kind = 'TabDebited' and b.body ->> 'attempt' = '1')
),
followed as materialized (
  select e.stream, count(*) filter (where e.kind in ('ProofClaimed', 'TabDebited')) as attempts, max(e.seq) as last_seq,
    count(*) filter (where e.kind = 'PaymentVerified') - count(*) filter (where e.kind = 'PaymentReversed') as payments,
    bool_or(e.kind = 'PaymentVerified') as is_verified, bool_or(e.kind = 'TabDebited') as is_debit,
    max(e.recorded_at) filter (where e.kind in ('RequestFulfilled', 'TabCaptured')) as fulfilled_at,
    (array_agg(substr(e.leaf_hash, 1, 16)) filter (where e.kind in ('RequestFulfilled', 'TabCaptured')))[1] as receipt,
    max(e.recorded_at) filter (where e.kind = 'PaymentFinalized') as finalized_at
  from ledger.events e
  where e.seq <= (select upto.seq from upto)
  group by e.stream
),
listed as materialized (
  select l.*, (l.paid_at at time zone 'UTC')::date as paid_day, f.attempts, f.fulfilled_at, f.receipt, f.finalized_at, f.last_seq,
    -- A debit is a sale once it is captured.
    case when f.is_debit then (f.fulfilled_at is not null)::integer else f.payments end as payments,
    f.is_verified or f.is_debit and f.fulfilled_at is not null as is_counted,
    case s.state when 'debited' then 'claimed' when 'captured' then 'fulfilled' else split_part(s.state, '.', 1) end as state, s.state like '%.final' as is_final, upper(s.seqs) - 1 > f.last_seq as has_gone_on
  from (
    select t.stream, min(t.reference) as reference,
      coalesce(min(t.wallet) filter (where t.kind = 'PaymentVerified'),
        min(coalesce(t.wallet, 'unknown')) filter (where t.kind = 'TransferReceived'), min(t.wallet)) as wallet,
      coalesce(min(t.endpoint) filter (where t.kind = 'PaymentVerified'), min(t.endpoint), 'unmatched') as endpoint,
      min(t.mint) as mint,
      coalesce(min(t.effective_at) filter (where t.kind = 'PaymentVerified'),
        min(t.effective_at) filter (where t.kind = 'PaymentSubmitted'), min(t.effective_at)) as paid_at,
      coalesce(min(t.slot) filter (where t.kind = 'TransferReceived'), min(t.slot)) as slot,
      min(t.price_micro_usd) as price_micro_usd, min(t.required) as required
    from said t
    group by t.stream
  ) l
  join followed f on f.stream = l.stream
  join ledger.streams s on s.stream = l.stream
)`

/**
 * SQL condition: true for an event that was recorded a day or more after the end of its month. That month's statement
 * does not contain the event.
 */
const isLate = `e.recorded_at at time zone 'UTC' - interval '1 day' >= date_trunc('month', e.effective_at at time zone 'UTC') + interval '1 month'`
const lateSeq = `case when ${isLate} then e.seq end`

/**
 * Derives the postings of each stream by day and account. Memo accounts are not money. The burn in tokens that a sale
 * in dollars owes is not an amount of its payment.
 */
const posted = `
moved as materialized (
  select t.stream, t.day, t.account, t.late_seq, sum(t.debit) as debits, sum(t.credit) as credits,
    sum(case when c.mint = q.mint then coalesce(div((t.debit - t.credit) * q.price_micro_usd * 1000000, q.required), 0) else 0 end) as value
  from (
    select e.stream, (e.effective_at at time zone 'UTC')::date as day, unnest(e.debits) as account, unnest(e.amounts) as debit,
      0::numeric as credit, ${lateSeq} as late_seq
    from ledger.events e where e.debits is not null and e.seq <= (select upto.seq from upto)
    union all
    select e.stream, (e.effective_at at time zone 'UTC')::date, unnest(e.credits), 0, unnest(e.amounts), ${lateSeq}
    from ledger.events e where e.debits is not null and e.seq <= (select upto.seq from upto)
  ) t
  join ledger.accounts c on c.id = t.account
  left join listed q on q.stream = t.stream
  group by t.stream, t.day, t.account, t.late_seq
),
posted as materialized (
  select m.stream, m.late_seq, s.kind, coalesce(a.mint = l.mint, false) as is_payment, m.day, a.mint, m.debits, m.credits, m.debits - m.credits as amount, m.value, l.wallet,
    n.share, coalesce(n.burned_at, l.endpoint, '') as endpoint,
    case when n.share is null then split_part(a.name, ':', 1) || ':' || split_part(a.name, ':', 2) else a.name end as line
  from moved m
  join ledger.accounts a on a.id = m.account and a.name not like 'Memo:%'
  cross join lateral (
    select substring(a.name from '^Liabilities:Share:(.*)$') as share, substring(a.name from '^Expenses:Burned:(.*)$') as burned_at
  ) n
  join ledger.streams s on s.stream = m.stream
  left join listed l on l.stream = m.stream
)`

const amounts = `
    coalesce(sum(p.amount) filter (where p.line = 'Assets:PaymentWallet'), 0) as received,
    coalesce(sum(p.amount) filter (where p.line = 'Expenses:Burned'), 0) as burned,
    coalesce(-sum(p.amount) filter (where p.line = 'Liabilities:BurnOwed'), 0) as burn_owed,
    coalesce(sum(p.amount) filter (where p.line = 'Expenses:ReversedPayments'), 0) as lost,
    coalesce(-sum(p.amount) filter (where p.line = 'Liabilities:Unearned'), 0) as unearned,
    coalesce(-sum(p.amount) filter (where p.line in ('Liabilities:Overpaid', 'Liabilities:RefundsDue', 'Liabilities:Unmatched')), 0) as owed,
    coalesce(-sum(p.amount) filter (where p.line = 'Liabilities:Prepaid'), 0) as prepaid`

const expected = `
right_days as materialized (
  select m.mint, d.day, m.kind, m.endpoint, m.line as account, sum(m.debits) as debits, sum(m.credits) as credits,
    sum(m.payments) as payments, sum(m.value) as value_pico_usd
  from (
    select p.mint, p.day, p.kind, p.endpoint, p.line, p.debits, p.credits, 0 as payments, p.value from posted p
    union all
    select l.mint, l.paid_day, 'payment', l.endpoint, 'Assets:PaymentWallet', 0, 0, l.payments, 0 from listed l where l.is_counted
  ) m
  cross join lateral (values (m.day), ('-infinity'::date)) d (day)
  group by m.mint, d.day, m.kind, m.endpoint, m.line
),
right_late as materialized (
  select p.late_seq as seq, p.mint, p.day, p.kind, p.endpoint, p.line as account, sum(p.debits) as debits, sum(p.credits) as credits,
    sum(p.value) as value_pico_usd
  from posted p where p.late_seq is not null group by p.late_seq, p.mint, p.day, p.kind, p.endpoint, p.line
),
right_prices as materialized (
  select l.mint, v.day, sum(l.price_micro_usd) as price_micro_usd, sum(l.required) as required, count(*) as payments
  from (
    select e.stream, (e.effective_at at time zone 'UTC')::date as day
    from ledger.events e where e.kind = 'PaymentVerified' and not (${isLate}) and e.seq <= (select upto.seq from upto)
  ) v
  join listed l on l.stream = v.stream
  where l.price_micro_usd > 0 and l.required > 0
  group by l.mint, v.day
),
right_wallets as materialized (
  select w.*, coalesce(c.payments, 0) as payments, coalesce(s.shares, '{}') as shares
  from (select p.mint, p.wallet, p.day, ${amounts} from posted p where p.is_payment group by p.mint, p.wallet, p.day) w
  left join (
    select l.mint, l.wallet, l.paid_day as day, sum(l.payments) as payments from listed l group by l.mint, l.wallet, l.paid_day
  ) c on c.mint = w.mint and c.wallet = w.wallet and c.day = w.day
  left join (
    select t.mint, t.wallet, t.day, jsonb_object_agg(t.share, t.amount) as shares
    from (
      select p.mint, p.wallet, p.day, p.share, -sum(p.amount) as amount
      from posted p where p.is_payment and p.share is not null group by p.mint, p.wallet, p.day, p.share
    ) t
    group by t.mint, t.wallet, t.day
  ) s on s.mint = w.mint and s.wallet = w.wallet and s.day = w.day
),
shared as materialized (
  select p.stream, p.share, -sum(p.amount) as amount from posted p where p.is_payment and p.share is not null group by p.stream, p.share
),
right_payments as materialized (
  select l.*, coalesce(n.received, 0) as received, coalesce(n.burned, 0) as burned, coalesce(n.burn_owed, 0) as burn_owed,
    coalesce(n.lost, 0) as lost, coalesce(n.unearned, 0) as unearned, coalesce(n.owed, 0) as owed, coalesce(n.prepaid, 0) as prepaid,
    coalesce(s.shares, '{}') as shares, n.stream is not null as has_moved
  from listed l
  left join (select p.stream, ${amounts} from posted p where p.is_payment group by p.stream) n on n.stream = l.stream
  left join (select t.stream, jsonb_object_agg(t.share, t.amount) as shares from shared t group by t.stream) s on s.stream = l.stream
),
right_totals as materialized (
  select t.*, coalesce(s.shares, '{}') as shares
  from (
    select p.mint, k.wallet, k.day, p.endpoint, sum(p.payments) as payments, sum(p.received) as received, sum(p.burned) as burned,
      sum(p.burn_owed) as burn_owed, sum(p.lost) as lost, sum(p.unearned) as unearned, sum(p.owed) as owed, sum(p.prepaid) as prepaid
    from right_payments p
    cross join lateral (values ('', p.paid_day), ('', '-infinity'::date), (p.wallet, p.paid_day)) k (wallet, day)
    where p.has_moved
    group by p.mint, k.wallet, k.day, p.endpoint
  ) t
  left join (
    select t.mint, t.wallet, t.day, t.endpoint, jsonb_object_agg(t.share, t.amount) as shares
    from (
      select p.mint, k.wallet, k.day, p.endpoint, s.share, sum(s.amount) as amount
      from shared s
      join right_payments p on p.stream = s.stream
      cross join lateral (values ('', p.paid_day), ('', '-infinity'::date), (p.wallet, p.paid_day)) k (wallet, day)
      group by p.mint, k.wallet, k.day, p.endpoint, s.share
    ) t
    group by t.mint, t.wallet, t.day, t.endpoint
  ) s on s.mint = t.mint and s.wallet = t.wallet and s.day = t.day and s.endpoint = t.endpoint
),
right_payouts as materialized (
  select e.seq, p.line, b.body ->> 'mint' as mint, b.body ->> 'stream' as reference, b.body ->> 'planId' as plan_id,
    (b.body ->> 'part')::integer as part, p.paid ->> 'account' as account, p.paid ->> 'wallet' as wallet,
    (p.paid ->> 'paidBaseUnits')::numeric as amount, e.effective_at as paid_at
  from ledger.events e
  cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as body offset 0) b
  cross join lateral jsonb_array_elements(b.body -> 'payments') with ordinality as p (paid, line)
  where e.kind = 'DistributionPaid' and e.seq <= (select upto.seq from upto)
),
right_refunds as materialized (
  select e.seq, d.line, b.body ->> 'mint' as mint, b.body ->> 'payment' as reference, b.body ->> 'wallet' as wallet, e.kind,
    d.account, d.amount, b.body ->> 'by' as decided_by, b.body ->> 'role' as role, b.body ->> 'login' as login,
    b.body ->> 'reason' as reason, e.recorded_at as decided_at
  from ledger.events e
  cross join lateral (select convert_from(e.body, 'UTF8')::jsonb as body offset 0) b
  cross join lateral (
    select a.line, a.debt ->> 'account' as account, (a.debt ->> 'baseUnits')::numeric as amount
    from jsonb_array_elements(b.body -> 'debts') with ordinality as a (debt, line)
    union all
    select 1, 'Liabilities:RefundsDue:' || (b.body ->> 'wallet'), (b.body ->> 'amountBaseUnits')::numeric where e.kind = 'RefundGranted'
  ) d
  where e.kind in ('RefundApproved', 'RefundGranted') and e.seq <= (select upto.seq from upto)
)`

interface Table {
  readonly name: string
  readonly right: string
  readonly keys: readonly string[]
  readonly columns: readonly string[]
  /** SQL expression for the position of a row. Absent for tables without positions. */
  readonly position?: string
}

const ofPayments = ['received', 'burned', 'burn_owed', 'lost', 'shares']

const tables: readonly Table[] = [
  {
    name: 'daily_totals',
    right: 'right_days',
    keys: ['mint', 'day', 'kind', 'endpoint', 'account'],
    columns: ['debits', 'credits', 'payments', 'value_pico_usd'],
  },
  {
    name: 'late_entries',
    right: 'right_late',
    keys: ['seq', 'mint', 'kind', 'endpoint', 'account', 'day'],
    columns: ['debits', 'credits', 'value_pico_usd'],
    position: 'coalesce(r.seq, k.seq)',
  },
  {
    name: 'day_prices',
    right: 'right_prices',
    keys: ['mint', 'day'],
    columns: ['price_micro_usd', 'required', 'payments'],
  },
  {
    name: 'wallet_totals',
    right: 'right_wallets',
    keys: ['mint', 'wallet', 'day'],
    columns: ['payments', ...ofPayments],
  },
  {
    name: 'payment_totals',
    right: 'right_totals',
    keys: ['mint', 'wallet', 'day', 'endpoint'],
    columns: ['payments', ...ofPayments, 'unearned', 'owed', 'prepaid'],
  },
  {
    name: 'payments',
    right: 'right_payments',
    keys: ['stream'],
    columns: [
      'reference',
      'wallet',
      'endpoint',
      'mint',
      'attempts',
      'paid_at',
      'fulfilled_at',
      'finalized_at',
      'slot',
      'price_micro_usd',
      'required',
      ...ofPayments,
      'unearned',
      'owed',
      'prepaid',
      'state',
      'is_final',
      'receipt',
    ],
    position: 'coalesce(r.last_seq, k.stream)',
  },
  {
    name: 'payouts',
    right: 'right_payouts',
    keys: ['seq', 'line'],
    columns: ['mint', 'reference', 'plan_id', 'part', 'account', 'wallet', 'amount', 'paid_at'],
    position: 'coalesce(r.seq, k.seq)',
  },
  {
    name: 'refunds',
    right: 'right_refunds',
    keys: ['seq', 'line'],
    columns: [
      'mint',
      'reference',
      'wallet',
      'kind',
      'account',
      'amount',
      'decided_by',
      'role',
      'login',
      'reason',
      'decided_at',
    ],
    position: 'coalesce(r.seq, k.seq)',
  },
]

// Columns with the state of a payment's stream. If the stream has events after the reports' position, accept the stored
// values.
const ofStream = new Set(['state', 'is_final'])

function differencesOf({ name, right, keys, columns, position = 'null::bigint' }: Table): string {
  const list = (alias: string): string => columns.map((column) => `${alias}.${column}`).join(', ')
  const rightOf = (column: string): string => {
    return ofStream.has(column) ? `case when r.has_gone_on then k.${column} else r.${column} end` : `r.${column}`
  }
  const [key = ''] = keys
  return `
select ${position} as position, 'reports.${name}' as name,
  concat_ws(' ', ${keys.map((name) => `coalesce(k.${name}, r.${name})`).join(', ')}) as subject,
  case when k.${key} is not null then row(${list('k')})::text end as found,
  case when r.${key} is not null then row(${list('r')})::text end as derived
from ${right} r
full join reports.${name} k on ${keys.map((name) => `k.${name} = r.${name}`).join(' and ')}
where (k.${key} is null) <> (r.${key} is null)
  or row(${list('k')}) is distinct from row(${columns.map(rightOf).join(', ')})`
}

/** Query that returns one row for each missing, superfluous or different row of a report table. */
export const reportsQuery = `
with upto as materialized (select max(p.upto_seq) as seq from reports.progress p),${listed},${posted},${expected}
${tables.map(differencesOf).join('\nunion all\n')}`
