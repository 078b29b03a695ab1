import { readAddress } from '@tollbook/core/address'
import { tokenAccountOf } from '../chain/walletTerms.ts'
import type { TabConfig } from '../config/tabConfig.ts'
import { walletsOf } from '../settings/settingPeriods.ts'
import { tabWalletName } from '../settings/walletSettings.ts'
import { readPeriods } from '../store/settingStore.ts'
import { readTabTotals } from '../store/tabStore.ts'
import { type Custody, readCustody } from '../tabs/tabAccounts.ts'
import { failed, type Installation, passed, type Result, skipped, warning } from './check.ts'

/** Checks the wallet for tabs. If tabs were sold earlier, it is checked even if tabs are no longer sold. */
export async function checkTabs({ config: { tabs: config }, database, chain }: Installation): Promise<Result> {
  const wallets = walletsOf(await readPeriods(database, [tabWalletName]), readAddress(config.wallet ?? ''))
  const [tabWallet] = wallets
  if (tabWallet === undefined) return skipped('TAB_WALLET is not set: no tabs are sold')
  const { terms, dollars, reader, readAccounts } = await chain()
  const every = [terms, ...dollars.map((dollar) => dollar.terms)]
  const addresses = every.map((each) => tokenAccountOf(each, tabWallet))
  const accounts = await readAccounts({ addresses, commitment: 'confirmed', minSlot: 0 })
  const mintsWhere = (is: (account: (typeof accounts)[number]) => boolean) =>
    every.filter((_terms, index) => is(accounts[index])).map(({ mint }) => mint)
  const missing = mintsWhere((account) => account?.token === undefined)
  if (missing.length > 0 && config.wallet !== undefined)
    return failed(`the wallet for tabs ${tabWallet} has no token account of ${missing.join(', ')}`, openAccount)
  const frozen = mintsWhere((account) => account?.token?.isFrozen === true)
  if (frozen.length > 0)
    return failed(`the token account of the wallet for tabs ${tabWallet} of ${frozen.join(', ')} is frozen`, askIssuer)
  const readMint = async (of: (typeof every)[number]) => {
    const totals = await readTabTotals(database, of.mint)
    const tabs = { totals: () => Promise.resolve(totals) }
    const custody = await readCustody({ tabs, chain: reader, tabWallets: () => wallets, slot: () => 0 }, of)
    return { ...custody, tabs: totals.tabs }
  }
  const custody = judgeCustody(wallets, await Promise.all(every.map(readMint)))
  return custody.verdict === 'failed' ? custody : (judgeLimits(config) ?? custody)
}

interface MintCustody extends Omit<Custody, 'wallet'> {
  readonly tabs: number
}

export function judgeCustody(wallets: readonly string[], custodies: readonly MintCustody[]): Result {
  const texts = custodies.map(
    ({ mint, tabs, heldBaseUnits, prepaidBaseUnits, refundsDueBaseUnits }) =>
      `${heldBaseUnits} base units of ${mint}, ${tabs} tabs ${prepaidBaseUnits}, refunds due ${refundsDueBaseUnits}`,
  )
  const detail = `${wallets.join(' and ')} ${wallets.length === 1 ? 'holds' : 'hold'} ${texts.join('; ')}`
  if (custodies.every(({ isCovered }) => isCovered)) return passed(detail)
  return failed(
    `no deposit is sold: ${detail}`,
    'transfer what is missing from the payment wallet to the wallet for tabs',
  )
}

const openAccount = 'open it with any wallet, such as by `spl-token create-account MINT --owner WALLET`'
const askIssuer = 'ask the issuer of the mint'

function judgeLimits({
  wallet,
  tabMaxMicroUsd,
  totalMaxMicroUsd,
  bearerDayMaxMicroUsd,
}: TabConfig): Result | undefined {
  if (wallet === undefined) return undefined
  if (totalMaxMicroUsd < tabMaxMicroUsd)
    return warning(
      'TABS_TOTAL_MAX_USD is less than TAB_MAX_USD: one full tab ends the sale of deposits',
      'raise TABS_TOTAL_MAX_USD',
    )
  if (bearerDayMaxMicroUsd > tabMaxMicroUsd)
    return warning(
      'TAB_BEARER_DAY_USD is more than TAB_MAX_USD: a stolen bearer key spends a whole tab in a day',
      'lower TAB_BEARER_DAY_USD',
    )
  return undefined
}
