import { z } from 'zod'
import { solanaAddress, usd, variable } from './variables.ts'

/** Wallet of all deposits, apart from the payment wallet. The signer reads it too. */
export const tabWallet = variable('TAB_WALLET', solanaAddress)

/** Tabs, which are sold only with a wallet for their deposits. */
export const tabConfig = z.object({
  wallet: tabWallet,
  /** Largest deposit, and largest balance of one tab. */
  tabMaxMicroUsd: variable('TAB_MAX_USD', usd.default(20_000_000n)),
  /** Balance of all tabs above which no deposits are sold. */
  totalMaxMicroUsd: variable('TABS_TOTAL_MAX_USD', usd.default(1_000_000_000n)),
  /** Highest limit per day of a tab with a bearer key. 0: bearer keys are not offered. */
  bearerDayMaxMicroUsd: variable('TAB_BEARER_DAY_USD', usd.default(0n)),
})

export type TabConfig = z.infer<typeof tabConfig>
