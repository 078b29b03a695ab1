import pg from 'pg'

/** Sums over all tabs of a ledger, in base units. */
export interface TabSums {
  readonly deposited: bigint
  /** Held by debits. */
  readonly held: bigint
  /** Given back by failed, expired and cheaper requests. */
  readonly returned: bigint
  /** Earned: burns owed and shares. */
  readonly captured: bigint
  /** Owed back to wallets at the end of tabs. */
  readonly owedBack: bigint
  /** Taken back for deposits that the chain dropped. */
  readonly takenBack: bigint
  readonly balance: bigint
  /** Tabs whose own deposit is not what they spent, returned and have. */
  readonly unequalTabs: number
  /** Postings after which a tab had less than nothing. */
  readonly belowZero: number
  /** Debits in no final state. */
  readonly open: number
  readonly capturedNumbers: number
  /** Numbers with more than one delivery, or another one than their capture. */
  readonly soldTwice: number
  readonly unbalanced: number
  readonly gaps: number
}

/*
 * Amounts come from the texts of the events, the balances from the accounts, and the running balances from the
 * postings, so that one wrong source contradicts the other two.
 */
const query = `
  with said as materialized (
    select e.seq, s.stream, s.kind as of_kind, s.state, e.kind, convert_from(e.body, 'UTF8')::jsonb as body
    from ledger.events e join ledger.streams s on s.stream = e.stream
    where s.kind in ('tab_request', 'tab_lifecycle') or e.kind in ('TabOpened', 'TabToppedUp', 'DepositReversed')
  ),
  -- The first event of a debit's stream names its tab.
  tab_of as (select seq as stream, body ->> 'tab' as tab from said where seq = stream and of_kind = 'tab_request'),
  amounts as (
    select coalesce(said.body ->> 'tab', tab_of.tab) as tab,
      case when kind in ('TabOpened', 'TabToppedUp') then (body ->> 'depositBaseUnits')::numeric end as deposited,
      case when kind = 'TabDebited' then (body #>> '{price,requiredBaseUnits}')::numeric end as held,
      case kind when 'TabReturned' then (body ->> 'baseUnits')::numeric
        when 'TabCaptured' then (body #>> '{returned,baseUnits}')::numeric end as returned,
      case when kind = 'TabCaptured' then (body ->> 'burnBaseUnits')::numeric
        + (select sum((part ->> 'baseUnits')::numeric) from jsonb_array_elements(body -> 'shares') part) end as captured,
      case when kind in ('TabClosed', 'TabRestOwed') then (body ->> 'restBaseUnits')::numeric end as owed_back,
      (body ->> 'takenBackBaseUnits')::numeric as taken_back
    from said left join tab_of using (stream)
  ),
  by_tab as (
    select tab, coalesce(sum(deposited), 0) as deposited, coalesce(sum(held), 0) as held,
      coalesce(sum(returned), 0) as returned, coalesce(sum(captured), 0) as captured,
      coalesce(sum(owed_back), 0) as owed_back, coalesce(sum(taken_back), 0) as taken_back
    from amounts group by tab
  ),
  balances as (
    select substr(name, length('Liabilities:Prepaid:') + 1) as tab, -balance as balance
    from ledger.accounts where name like 'Liabilities:Prepaid:%'
  ),
  running as (
    select sum(-amount) over (partition by account order by seq, line) as balance
    from ledger.entries where account like 'Liabilities:Prepaid:%'
  ),
  deliveries as (
    select stream, state, count(*) filter (where kind = 'TabCaptured') as delivered
    from said where of_kind = 'tab_request' group by stream, state
  )
  select coalesce(sum(deposited), 0)::text as deposited, coalesce(sum(held), 0)::text as held,
    coalesce(sum(returned), 0)::text as returned, coalesce(sum(captured), 0)::text as captured,
    coalesce(sum(owed_back), 0)::text as "owedBack", coalesce(sum(taken_back), 0)::text as "takenBack",
    coalesce(sum(balance), 0)::text as balance,
    (count(*) filter (where deposited <> captured + owed_back + taken_back + balance or held <> captured + returned
      or balance is null))::int as "unequalTabs",
    (select count(*)::int from running where balance < 0) as "belowZero",
    (select count(*)::int from deliveries where state in ('debited', 'streaming')) as open,
    (select count(*)::int from deliveries where state = 'captured') as "capturedNumbers",
    (select count(*)::int from deliveries where delivered <> (case when state = 'captured' then 1 else 0 end)) as "soldTwice",
    (select count(*)::int from (select from ledger.entries group by seq, mint having sum(amount) <> 0) u) as unbalanced,
    (select count(*)::int from (select seq, row_number() over (order by seq) as n from ledger.events) e where seq <> n) as gaps
  from by_tab full join balances using (tab)`

type Row = { readonly [K in keyof TabSums]: TabSums[K] extends bigint ? string : number }

export async function readTabSums(adminUrl: string): Promise<TabSums> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  const { rows } = await client.query<Row>(query)
  await client.end()
  const [row] = rows
  if (row === undefined) throw new Error('the sums of the tabs have one row')
  const { deposited, held, returned, captured, owedBack, takenBack, balance, ...counts } = row
  return {
    ...counts,
    deposited: BigInt(deposited),
    held: BigInt(held),
    returned: BigInt(returned),
    captured: BigInt(captured),
    owedBack: BigInt(owedBack),
    takenBack: BigInt(takenBack),
    balance: BigInt(balance),
  }
}

/** Returns each statement about the sums that is false. */
export function findUnequal(sums: TabSums): readonly string[] {
  const { deposited, held, returned, captured, owedBack, takenBack, balance } = sums
  const wrong: string[] = []
  if (captured + owedBack + takenBack + balance !== deposited)
    wrong.push(
      `${captured} captured + ${owedBack} owed back + ${takenBack} taken back + ${balance} on tabs is not ${deposited} deposited`,
    )
  if (captured + returned !== held) wrong.push(`${captured} captured + ${returned} returned is not ${held} held`)
  for (const name of ['unequalTabs', 'belowZero', 'open', 'soldTwice', 'unbalanced', 'gaps'] as const)
    if (sums[name] !== 0) wrong.push(`${name}: ${sums[name]}`)
  return wrong
}
