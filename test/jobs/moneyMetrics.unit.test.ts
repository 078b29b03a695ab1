import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { createMetrics } from '../../src/transport/metrics.ts'
import { showMoney, startMoneyMetrics } from '../../src/jobs/moneyMetricsJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { steppedClock } from '../support/steppedClock.ts'

test('metrics of money show what is missing in the wallet, and only debts to wallets as refunds', async () => {
  const metrics = createMetrics()
  const order: string[] = []
  const deps = {
    clock: systemClock,
    log: silentLog,
    onMoney: metrics.onMoney,
    readFigures: async () => {
      order.push('ledger')
      return {
        accounts: [
          { account: 'Assets:PaymentWallet', baseUnits: 1_000n },
          { account: 'Liabilities:Unearned', baseUnits: -500n },
          { account: 'Liabilities:BurnOwed', baseUnits: -100n },
          { account: 'Liabilities:Share:provider', baseUnits: -300n },
          { account: 'Liabilities:Overpaid', baseUnits: -60n },
          { account: 'Liabilities:Prepaid', baseUnits: -9_000n },
          { account: 'Liabilities:RefundsDue', baseUnits: -40n },
        ],
        endpoints: [{ endpoint: '/api/data/crypto', allocatedBaseUnits: 300n, allocatedMicroUsd: 2_500_000n }],
        exposedBaseUnits: 7n,
        lateEntries: 2,
      }
    },
    walletBaseUnits: async () => {
      order.push('chain')
      return 993n
    },
  }
  await showMoney(deps, 'mint')
  // The other way round, a payment in between would be a shortage.
  expect(order).toEqual(['ledger', 'chain'])
  const served = await metrics.registry.metrics()
  for (const line of [
    'tollbook_wallet_difference_base_units{mint="mint"} -7',
    'tollbook_refunds_due_base_units{mint="mint"} 100',
    'tollbook_account_base_units{mint="mint",account="Liabilities:Share:provider"} -300',
    'tollbook_endpoint_allocated_usd{mint="mint",endpoint="/api/data/crypto"} 2.5',
    'tollbook_exposed_base_units{mint="mint"} 7',
    'tollbook_late_entries{mint="mint"} 2',
  ])
    expect(served.split('\n')).toContain(line)
})

test('a mint whose wallet cannot be read hides no other mint', async () => {
  const clock = steppedClock()
  const shown: string[] = []
  const job = startMoneyMetrics({
    clock,
    log: silentLog,
    mints: () => Promise.resolve(['unread', 'read']),
    readFigures: () => Promise.resolve({ accounts: [], endpoints: [], exposedBaseUnits: 0n, lateEntries: 0 }),
    walletBaseUnits: (mint) => (mint === 'unread' ? Promise.reject(new Error('no node answers')) : Promise.resolve(1n)),
    onMoney: ({ mint }) => void shown.push(mint),
  })
  await clock.step()
  await job.stop()
  expect(shown).toEqual(['read'])
})
