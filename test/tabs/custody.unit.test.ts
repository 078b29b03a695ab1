import { expect, test } from 'vitest'
import { readCustody } from '../../src/tabs/tabAccounts.ts'
import { sampleAddress, sampleMint } from '../store/samplePayment.ts'

const [tabWallet, paymentWallet] = [sampleAddress(), sampleAddress()]

interface Situation {
  /** On tabs, and owed back to wallets. */
  readonly debts: readonly [prepaid: bigint, refundsDue: bigint]
  /** In the wallet for tabs, and in the payment wallet. */
  readonly held: readonly [forTabs: bigint, forPayments: bigint]
}

async function isCovered({ debts: [prepaidBaseUnits, refundsDueBaseUnits], held: [forTabs, forPayments] }: Situation) {
  const custody = await readCustody(
    {
      tabs: { totals: () => Promise.resolve({ prepaidBaseUnits, refundsDueBaseUnits }) },
      chain: {
        readBalance: ({ wallet }) =>
          Promise.resolve({ baseUnits: wallet === tabWallet ? forTabs : forPayments, slot: 1, isAgreed: true }),
      },
      tabWallets: () => [tabWallet],
      paymentWallet,
      slot: () => 1,
    },
    sampleMint,
  )
  return custody.isCovered
}

test('refunds of other sales are covered by the payment wallet, and do not stop the sale of tabs', async () => {
  expect(await isCovered({ debts: [100n, 50n], held: [100n, 50n] })).toBe(true)
  expect(await isCovered({ debts: [100n, 50n], held: [150n, 0n] })).toBe(true)
})

test('tabs are covered by the wallet for tabs alone, and all refunds by what both wallets hold beyond them', async () => {
  expect(await isCovered({ debts: [100n, 0n], held: [99n, 1_000n] })).toBe(false)
  expect(await isCovered({ debts: [100n, 50n], held: [120n, 29n] })).toBe(false)
})
