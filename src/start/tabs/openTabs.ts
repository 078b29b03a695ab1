import type { Address } from '@tollbook/core/address'
import type { Clock } from '@tollbook/core/clock'
import { divideRoundingUp } from '@tollbook/core/money'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { Chain } from '../../chain/openChain.ts'
import type { TabConfig } from '../../config/tabConfig.ts'
import { repeat, stopAll } from '../../jobs/repeat.ts'
import { startTabEndJob } from '../../jobs/tabEndJob.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { onSale, openEndpoint } from '../../product/productDefinition.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import { tabRoutes } from '../../routes/tabRoutes.ts'
import { shareReading } from '../../transport/shareReading.ts'
import { createCustodyWatch } from '../../tabs/custodyWatch.ts'
import { createTabAccounts, type Custody } from '../../tabs/tabAccounts.ts'
import { createTabProduct, type TabProductDeps, tabsPath } from '../../tabs/tabProduct.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'

export type OpenTabs = ReturnType<typeof openTabs>

export interface TabsDeps {
  readonly clock: Clock
  readonly ledger: Pick<LedgerPart, 'tabs' | 'settings' | 'upkeep'>
  readonly chain: Pick<Chain, 'reader' | 'terms' | 'dollars'>
}

interface CurrentPrices {
  readonly currentPrice: (endpoint: string, mint?: Address) => ListedPrice | undefined
}

export interface TabEndsDeps extends Pick<PartDeps, 'log'> {
  readonly slot: () => number
}

export type TabEnds = Awaited<ReturnType<OpenTabs['startEnds']>>

/**
 * Returns the value of the balances in millionths of a US dollar. A mint without a price is omitted. Undefined until
 * balances and prices are known.
 */
function valueOf(custodies: readonly Custody[], prices: readonly Price[]): bigint | undefined {
  if (custodies.length === 0 || prices.length === 0) return undefined
  return custodies.reduce((sum, { mint, prepaidBaseUnits }) => {
    const price = prices.find((each) => each.mint === mint)
    if (price === undefined) return sum
    // Round up, so that rounding never lets the tabs exceed their limit.
    return sum + divideRoundingUp(prepaidBaseUnits * price.priceMicroUsd, price.requiredBaseUnits)
  }, 0n)
}

const custodyEveryMs = 10_000
// Milliseconds for which public readings are shared, because each reading calls the nodes for every wallet and mint.
const custodySharedMs = 1_000
const full = 'all tabs together hold as much as this service permits'

export function tabProducts(config: TabConfig) {
  return config.wallet === undefined ? [] : [createTabProduct(config)]
}

/** Opens the sale of tabs. Deposits are refused until `startEnds` has read the wallets for tabs. */
export function openTabs(config: TabConfig, { clock, ledger, chain }: TabsDeps) {
  const { tabs, settings } = ledger
  const { origin, tabWallets } = settings
  const terms = [chain.terms, ...chain.dollars.map((dollar) => dollar.terms)]
  const custody = createCustodyWatch()

  function productDeps({ currentPrice }: CurrentPrices): TabProductDeps {
    const pricesOf = (endpoint: string) => terms.flatMap(({ mint }) => currentPrice(endpoint, mint) ?? [])
    // Until the balances are known, they count as the whole limit, so that no deposit is sold.
    const isWithin = (depositMicroUsd: bigint) =>
      (valueOf(custody.custodies(), pricesOf(tabsPath)) ?? config.totalMaxMicroUsd) + depositMicroUsd <=
      config.totalMaxMicroUsd
    const whyClosed = (microUsd: bigint) => custody.whyClosed() ?? (isWithin(microUsd) ? undefined : full)
    return { clock, tabs, origin, pricesOf, whyClosed }
  }

  return {
    open: (sold: readonly ProductFacts[], prices: CurrentPrices): readonly Endpoint[] =>
      onSale(tabProducts(config), sold).map((product) => openEndpoint(product, productDeps(prices))),
    /**
     * Starts the routes and jobs of open tabs. Tabs that were sold earlier can be read and closed even if tabs are no
     * longer sold.
     */
    async startEnds({ log, slot }: TabEndsDeps) {
      if (tabWallets().length === 0)
        return { routes: [], checks: [], whyNoDeposit: () => undefined, close: () => Promise.resolve() }
      const deps = { clock, tabs, chain: chain.reader, terms, tabWallets, slot }
      // Read the wallets before the first deposit can be offered.
      await custody.readAgain(deps)
      const jobs = [
        startTabEndJob({ clock, log, tabs, readDatabaseClockMs: ledger.upkeep.readDatabaseClockMs }),
        repeat({ clock, log }, { name: 'custody', everyMs: custodyEveryMs, run: () => custody.readAgain(deps) }),
      ]
      const accounts = createTabAccounts(deps)
      const check: HealthCheck = { name: 'tabs', problem: custody.problem, someProductsOnly: true }
      const readCustody = shareReading({ clock, ageMaxMs: custodySharedMs, read: accounts.custody })
      return {
        routes: tabRoutes({ clock, log, origin, accounts: { ...accounts, custody: readCustody } }),
        checks: [check],
        /** Returns why the wallet for tabs stops deposits in a mint. Undefined if deposits are possible. */
        whyNoDeposit: custody.whyNoDeposit,
        close: () => stopAll(jobs),
      }
    },
  }
}
