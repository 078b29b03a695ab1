import { type Database, assertRow, readRows } from '../store/database.ts'
import type { LedgerToken } from './ledgerToken.ts'

/**
 * Sums of the whole ledger. The number of rows is independent of the number of payments, so that monitoring can read
 * them often.
 */
export interface MoneyFigures {
  /** Balance per account in base units. All wallets together have one line per kind of debt. Debits are positive. */
  readonly accounts: readonly { readonly account: string; readonly baseUnits: bigint }[]
  readonly endpoints: readonly EndpointRevenue[]
  /** Price in base units of the delivered answers whose payments the chain could still drop. */
  readonly exposedBaseUnits: bigint
  readonly lateEntries: number
}

/** Revenue of an endpoint since the start of the ledger. */
export interface EndpointRevenue {
  readonly endpoint: string
  /** Amount earned by deliveries in base units: the sum of all shares. */
  readonly allocatedBaseUnits: bigint
  /** Value of the allocated amount in millionths of a dollar, at the quoted prices. */
  readonly allocatedMicroUsd: bigint
}

/** Reads the figures up to the position of the reports. The exposed amount is that of the whole ledger. */
export async function moneyFigures(database: Database, { mint }: LedgerToken): Promise<MoneyFigures> {
  const what = 'the money metrics'
  const accounts = await readRows(database, what)<{ account: string; balance: string }>`
    select account, sum(debits - credits)::text as balance from reports.daily_totals
    where mint = ${mint} and day = '-infinity' group by account`
  const endpoints = await readRows(database, what)<{ endpoint: string; allocated: string; value: string }>`
    select endpoint, sum(credits - debits)::text as allocated, div(-sum(value_pico_usd), 1000000)::text as value
    from reports.daily_totals
    where mint = ${mint} and day = '-infinity' and kind in ('payment', 'tab_request') and endpoint <> '' and account like 'Liabilities:Share:%'
    group by endpoint`
  const others = await assertRow(database, what)<{ exposed: string; late: number }>`
    select coalesce((select a.balance from ledger.accounts a where a.mint = ${mint} and a.name = 'Memo:Exposed'), 0)::text as exposed,
      (select count(*) from reports.late_entries l where l.mint = ${mint})::bigint as late`
  return {
    accounts: accounts.map(({ account, balance }) => ({ account, baseUnits: BigInt(balance) })),
    endpoints: endpoints.map(({ endpoint, allocated, value }) => {
      return { endpoint, allocatedBaseUnits: BigInt(allocated), allocatedMicroUsd: BigInt(value) }
    }),
    exposedBaseUnits: BigInt(others.exposed),
    lateEntries: others.late,
  }
}
