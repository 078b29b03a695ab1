import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { divideRoundingUp } from '@tollbook/core/money'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { Chain } from '../../chain/openChain.ts'
import type { TabConfig } from '../../config/tabConfig.ts'
import { repeat, stopAll } from '../../jobs/repeat.ts'
import { startTabEndJob } from '../../jobs/tabEndJob.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { openEndpoint, type ProductDefinition } from '../../product/productDefinition.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import { tabRoutes } from '../../routes/tabRoutes.ts'
import { shareReading } from '../../transport/shareReading.ts'
import { createCustodyWatch } from '../../tabs/custodyWatch.ts'
import { createTabAccounts, type Custody } from '../../tabs/tabAccounts.ts'
import { createTabProduct, type TabProductDeps, tabsPath } from '../../tabs/tabProduct.ts'
import type { FreeRoute, HealthCheck } from '../../transport/freeRoute.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'

export type OpenTabs = ReturnType<typeof openTabs>

type TabLedgerPart = Pick<LedgerPart, 'tabs'> & {
  readonly settings: Pick<LedgerPart['settings'], 'origin' | 'tabWallets'>
}

export interface TabEndsDeps {
  readonly chain: Pick<Chain, 'reader' | 'terms' | 'dollars'>
  readonly currentPrice: (endpoint: string, mint?: Address) => ListedPrice | undefined
  readonly slot: () => number
  readonly readDatabaseClockMs: () => Promise<number>
}

export interface TabEnds {
  readonly routes: readonly FreeRoute[]
  readonly checks: readonly HealthCheck[]
  /** Returns why deposits in this mint are stopped, because of the wallet for tabs. Undefined if deposits are possible. */
  readonly whyNoDeposit: (mint: Address) => string | undefined
  close(): Promise<void>
}

/**
 * Returns the value of all tabs in millionths of a US dollar, converted at the price of a deposit in each mint. A mint
 * without a price is omitted. Undefined until balances and prices are known.
 */
function valueOf(custodies: readonly Custody[], prices: readonly Price[]): bigint | undefined {
  if (custodies.length === 0 || prices.length === 0) return undefined
  return custodies.reduce((sum, { mint, prepaidBaseUnits }) => {
    const price = prices.find((each) => each.mint === mint)
    if (price === undefined) return sum
    return sum + divideRoundingUp(prepaidBaseUnits * price.priceMicroUsd, price.requiredBaseUnits)
  }, 0n)
}

const custodyEveryMs = 10_000
// Milliseconds for which public readings are shared, because each reading calls the nodes for every wallet and mint.
const custodySharedMs = 1_000
const full = 'all tabs together hold as much as this service permits'

/** Opens the sale of tabs. Its product has a price before the ledger is open, and is sold only afterwards. */
export function openTabs(config: TabConfig, base: PartDeps) {
  const { clock, log } = base
  let connected: TabLedgerPart | undefined
  const custody = createCustodyWatch()
  let pricesOf: TabProductDeps['pricesOf'] = () => []
  const ledger = () => assertPresent(connected, 'the ledger is open before a product is sold')
  const product = createTabProduct(config, {
    clock,
    tabs: () => ledger().tabs,
    origin: () => ledger().settings.origin,
    pricesOf: (endpoint) => pricesOf(endpoint),
    whyClosed: (microUsd) => custody.whyClosed() ?? (isWithin(microUsd) ? undefined : full),
  })
  const isWithin = (depositMicroUsd: bigint) =>
    (valueOf(custody.custodies(), pricesOf(tabsPath)) ?? config.totalMaxMicroUsd) + depositMicroUsd <=
    config.totalMaxMicroUsd
  const products: readonly ProductDefinition<unknown>[] = config.wallet === undefined ? [] : [product]

  async function startEnds({ chain, currentPrice, slot, readDatabaseClockMs }: TabEndsDeps): Promise<TabEnds> {
    const { tabs, settings } = ledger()
    const { reader } = chain
    const { tabWallets } = settings
    const terms = [chain.terms, ...chain.dollars.map((dollar) => dollar.terms)]
    const deps = { clock, tabs, chain: reader, terms, tabWallets, slot }
    pricesOf = (endpoint) => terms.flatMap(({ mint }) => currentPrice(endpoint, mint) ?? [])
    await custody.readAgain(deps)
    const jobs = [
      startTabEndJob({ clock, log, tabs, readDatabaseClockMs }),
      repeat(base, { name: 'custody', everyMs: custodyEveryMs, run: () => custody.readAgain(deps) }),
    ]
    const accounts = createTabAccounts(deps)
    const readCustody = shareReading({ clock, ageMaxMs: custodySharedMs, read: accounts.custody })
    return {
      routes: tabRoutes({ clock, log, origin: settings.origin, accounts: { ...accounts, custody: readCustody } }),
      checks: [{ name: 'tabs', problem: custody.problem, someProductsOnly: true }],
      whyNoDeposit: custody.whyNoDeposit,
      close: () => stopAll(jobs),
    }
  }

  return {
    /** Products that open and top up tabs. Empty without TAB_WALLET. */
    products,
    /** Opens the products of this part that are on sale, with the operator's prices. */
    open: (sold: readonly ProductFacts[]): readonly Endpoint[] =>
      products.flatMap((definition) => {
        const facts = sold.find(({ path }) => path === definition.path)
        return facts === undefined ? [] : [openEndpoint({ ...definition, ...facts }, undefined)]
      }),
    connect(part: TabLedgerPart): void {
      connected = part
    },
    /** Starts the jobs of tabs. Tabs that were sold earlier can be read and closed even if tabs are no longer sold. */
    async start(deps: TabEndsDeps): Promise<TabEnds> {
      return ledger().settings.tabWallets().length === 0
        ? { routes: [], checks: [], whyNoDeposit: () => undefined, close: () => Promise.resolve() }
        : await startEnds(deps)
    },
  }
}
