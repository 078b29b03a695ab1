import { Gauge, type Registry } from 'prom-client'

interface MetricMoney {
  readonly mint: string
  readonly accounts: readonly { readonly account: string; readonly baseUnits: bigint }[]
  readonly endpoints: readonly {
    readonly endpoint: string
    readonly allocatedBaseUnits: bigint
    readonly allocatedMicroUsd: bigint
  }[]
  readonly refundsDueBaseUnits: bigint
  readonly walletBaseUnits: bigint
  readonly walletDifferenceBaseUnits: bigint
  readonly exposedBaseUnits: bigint
  readonly lateEntries: number
  readonly readAtMs: number
}

/**
 * Creates the metrics of money. Each gauge has a label for the mint. Amounts are in base units of the mint unless the
 * name contains `usd`. Gauges round amounts above 2^53; the reports are exact.
 */
export function moneyMetrics(registers: Registry[]) {
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames: ['mint', ...labelNames], registers })
  const balances = gauge('tollbook_account_base_units', 'Balance of an account; debits are positive', ['account'])
  const allocated = gauge('tollbook_endpoint_allocated_base_units', 'Earned by deliveries, all shares', ['endpoint'])
  const revenue = gauge('tollbook_endpoint_allocated_usd', 'The same at the quoted prices', ['endpoint'])
  const refunds = gauge('tollbook_refunds_due_base_units', 'Owed back to wallets')
  const wallet = gauge('tollbook_wallet_base_units', 'Tokens of the payment wallets on chain')
  const difference = gauge('tollbook_wallet_difference_base_units', 'Tokens on chain less the balance in the ledger')
  const exposed = gauge('tollbook_exposed_base_units', 'Price of answers served for payments that are not final')
  const late = gauge('tollbook_late_entries', 'Entries recorded after the close of their month')
  const readAt = gauge('tollbook_money_read_timestamp_seconds', 'Time of the newest money metrics')
  return {
    onMoney(money: MetricMoney): void {
      const { mint } = money
      for (const { account, baseUnits } of money.accounts) balances.set({ mint, account }, Number(baseUnits))
      for (const { endpoint, allocatedBaseUnits, allocatedMicroUsd } of money.endpoints) {
        allocated.set({ mint, endpoint }, Number(allocatedBaseUnits))
        revenue.set({ mint, endpoint }, Number(allocatedMicroUsd) / 1e6)
      }
      refunds.set({ mint }, Number(money.refundsDueBaseUnits))
      wallet.set({ mint }, Number(money.walletBaseUnits))
      difference.set({ mint }, Number(money.walletDifferenceBaseUnits))
      exposed.set({ mint }, Number(money.exposedBaseUnits))
      late.set({ mint }, money.lateEntries)
      readAt.set({ mint }, money.readAtMs / 1000)
    },
  }
}
