import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { identifiedPlan } from '../../src/accounting/payoutPlan.ts'
import type { BalanceQuestion } from '../../src/payment/chainReader.ts'
import { openPayoutWallets } from '../../src/payout/payoutWallets.ts'
import { decideFirstSetting } from '../../src/settings/settings.ts'
import { tabWalletName } from '../../src/settings/walletSettings.ts'
import { encodeSetting } from '../../src/store/settingStore.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { mint, otherWallet as tabWallet, wallet } from '../payment/paymentStory.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

const terms = { mint, decimals: 6, tokenProgram: mint, paymentWallet: wallet, paymentTokenAccount: wallet, network: '' }
const parts = [[{ account: 'Liabilities:Share:provider', wallet: sampleAddress(), baseUnits: 70n }]]
const plan = identifiedPlan({ network: '', mint, decimals: 6, paymentWallet: wallet, position: 1, slot: 1, parts })

/** Checks the plan of 70 with balances of the payment wallet and the wallet for tabs. */
async function cover(own: bigint, onTabs: bigint, heldBaseUnits: bigint): Promise<string> {
  const decision = decideFirstSetting(0, { name: tabWalletName, value: tabWallet }, 0)
  const body = Buffer.from(encodeSetting(assertPresent(decision, 'the first value is recorded')))
  // A balance from the cache is of before the last payout.
  const readBalance = ({ wallet: of, isFresh = false }: BalanceQuestion) =>
    Promise.resolve({ baseUnits: isFresh ? (of === wallet ? own : onTabs) : 1_000n, slot: 1, isAgreed: true })
  const wallets = openPayoutWallets({
    database: scriptedDatabase(() => [{ name: tabWalletName, seq: 1, body }]),
    chain: Object.assign(Object.create(null), { terms, reader: { readBalance } }),
    clock: heldClock,
    dollar: undefined,
  })
  return wallets.requireCover(plan, heldBaseUnits).then(
    () => 'covered',
    (error: unknown) => String(error),
  )
}

test('a plan is paid out of its own wallet, and all wallets together keep what is held for others', async () => {
  expect(await cover(70n, 0n, 0n)).toBe('covered')
  expect(await cover(69n, 100n, 0n)).toContain('transfer these tokens')
  expect(await cover(70n, 30n, 30n)).toBe('covered')
  expect(await cover(99n, 0n, 30n)).toContain('Send the tokens that are missing')
  expect(await cover(70n, 29n, 30n)).toContain('held for open payments')
})
