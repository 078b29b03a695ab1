import type { Address } from '@tollbook/core/address'
import { assertPresent } from '@tollbook/core/assert'
import { describeError } from '@tollbook/core/fault'
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
import { createTabAccounts, type Custody, readCustody, type TabAccountsDeps } from '../../tabs/tabAccounts.ts'
import { createTabProduct, type TabProductDeps, tabsPath } from '../../tabs/tabProduct.ts'
import type { FreeRoute, HealthCheck } from '../../transport/freeRoute.ts'
import type { LedgerPart } from '../ledger/openLedgerPart.ts'
import type { PartDeps } from '../partDeps.ts'

/** The sale of tabs. Its product has a price before the ledger is open, and sells only afterwards. */
export interface OpenTabs {
  /** Empty without TAB_WALLET. */
  readonly products: readonly ProductDefinition<unknown>[]
  /** Opens the products of this part that are in the list, with the operator's prices. */
  open(sold: readonly ProductFacts[]): readonly Endpoint[]
  connect(ledger: TabLedgerPart): void
  /** Starts the jobs. Tabs that were sold earlier are shown and closed even if no tabs are sold any more. */
  start(deps: TabEndsDeps): Promise<TabEnds>
}

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
  close(): Promise<void>
}

/**
 * Value of all tabs in millionths of a US dollar, by the prices of one deposit in each mint. A mint without a price is
 * left out. Undefined before it is known.
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
const full = 'all tabs together hold as much as this service permits'

export function openTabs(config: TabConfig, base: PartDeps): OpenTabs {
  const { clock, log } = base
  let connected: TabLedgerPart | undefined
  let custodies: readonly Custody[] = []
  let problem: string | undefined = 'the wallet for tabs has not been read yet'
  let pricesOf: TabProductDeps['pricesOf'] = () => []
  const ledger = () => assertPresent(connected, 'the ledger is open before a product is sold')
  const product = createTabProduct(config, {
    clock,
    tabs: () => ledger().tabs,
    origin: () => ledger().settings.origin,
    pricesOf: (endpoint) => pricesOf(endpoint),
    whyClosed: (microUsd) => problem ?? (isWithin(microUsd) ? undefined : full),
  })
  const isWithin = (depositMicroUsd: bigint) =>
    (valueOf(custodies, pricesOf(tabsPath)) ?? config.totalMaxMicroUsd) + depositMicroUsd <= config.totalMaxMicroUsd
  const products = config.wallet === undefined ? [] : [product]

  /** No deposit is sold while the wallet does not cover what it owes, or cannot be read. */
  async function readAgain(deps: TabAccountsDeps): Promise<void> {
    try {
      custodies = await Promise.all(deps.mints.map((mint) => readCustody(deps, mint)))
      const short = custodies.find(({ isCovered }) => !isCovered)
      problem =
        short &&
        `the wallet for tabs holds less of ${short.mint} than the tabs, or with the payment wallet less than the refunds due`
    } catch (error) {
      problem = `the wallet for tabs cannot be read: ${describeError(error)}`
    }
  }

  async function startEnds({ chain, currentPrice, slot, readDatabaseClockMs }: TabEndsDeps): Promise<TabEnds> {
    const { tabs, settings } = ledger()
    const { terms, dollars, reader } = chain
    const { tabWallets } = settings
    const mints = [terms, ...dollars.map((dollar) => dollar.terms)].map(({ mint }) => mint)
    const deps = { clock, tabs, chain: reader, mints, tabWallets, paymentWallet: terms.paymentWallet, slot }
    pricesOf = (endpoint) => mints.flatMap((mint) => currentPrice(endpoint, mint) ?? [])
    await readAgain(deps)
    const jobs = [
      startTabEndJob({ clock, log, tabs, readDatabaseClockMs }),
      repeat(base, { name: 'custody', everyMs: custodyEveryMs, run: () => readAgain(deps) }),
    ]
    return {
      routes: tabRoutes({ clock, log, origin: settings.origin, accounts: createTabAccounts(deps) }),
      checks: [{ name: 'tabs', problem: () => problem, someProductsOnly: true }],
      close: () => stopAll(jobs),
    }
  }

  return {
    products,
    open: (sold) =>
      products.flatMap((definition) => {
        const facts = sold.find(({ path }) => path === definition.path)
        return facts === undefined ? [] : [openEndpoint({ ...definition, ...facts }, undefined)]
      }),
    connect(part) {
      connected = part
    },
    async start(deps) {
      return ledger().settings.tabWallets().length === 0
        ? { routes: [], checks: [], close: () => Promise.resolve() }
        : await startEnds(deps)
    },
  }
}
