import { z } from 'zod'
import { solanaAddress, usd, variable } from './variables.ts'

/** Separate from the payment wallet. The signer reads this variable too. */
export const tabWallet = variable('TAB_WALLET', solanaAddress)

/** Tabs are sold only if a wallet for their deposits is set. */
export const tabConfig = z.object({
  wallet: tabWallet,
  /** Maximum amount of one deposit, and of the balance of one tab. */
  tabMaxMicroUsd: variable('TAB_MAX_USD', usd.default(20_000_000n)),
  /** Total balance of all tabs above which no deposits are sold. */
  totalMaxMicroUsd: variable('TABS_TOTAL_MAX_USD', usd.default(1_000_000_000n)),
  /** Maximum limit per day of a tab with a bearer key. 0: bearer keys are not offered. */
  bearerDayMaxMicroUsd: variable('TAB_BEARER_DAY_USD', usd.default(0n)),
})

export type TabConfig = z.infer<typeof tabConfig>
