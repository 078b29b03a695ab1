import { readAddress } from '@tollbook/core/address'
import { type Clock, systemClock } from '@tollbook/core/clock'
import type { NodeLimits } from './chain/nodeStanding.ts'
import { openChain } from './chain/openChain.ts'
import type { ProviderAddresses, ServiceConfig } from './config.ts'
import type { Endpoint } from './product/endpoint.ts'
import type { OpenRoutes } from './gateway/openRoutes.ts'
import type { FollowedLoad } from './transport/followLoad.ts'
import { createLookupCounts } from './transport/lookupCounts.ts'
import { createMetrics } from './transport/metrics.ts'
import type { WalletPort } from './routes/payRoutes.ts'
import { createServiceAddress } from './transport/serviceAddress.ts'
import { postJson } from './outbound/postJson.ts'
import type { PaymentLedger } from './payment/paymentLedger.ts'
import type { PaymentRail } from './paywall/rail.ts'
import type { Log } from './machine/log.ts'
import { type BuiltinProducts, loadGoods } from './start/builtin/loadGoods.ts'
import { closePart } from './start/closePart.ts'
import { openFinance } from './start/finance/openFinance.ts'
import { createReload } from './start/gateway/createReload.ts'
import { openGateway } from './start/gateway/openGateway.ts'
import { openHttp } from './start/http/openHttp.ts'
import { createHealth } from './start/jobs/health.ts'
import { type JobLimits, startJobs } from './start/jobs/startJobs.ts'
import { openLedgerPart } from './start/ledger/openLedgerPart.ts'
import { openPayments } from './start/payments/openPayments.ts'
import { openTabs } from './start/tabs/openTabs.ts'
import { openSignerPart } from './start/payments/openSignerPart.ts'
import { openProducts } from './start/products/openProducts.ts'
import { soldProducts } from './start/products/soldProducts.ts'

export { loadGoods } from './start/builtin/loadGoods.ts'
export { requireFreePorts } from './start/http/freePorts.ts'

export interface ServiceOptions {
  readonly log: Log
  readonly clock?: Clock
  /** Funds a wallet with tokens of a local chain. Returns the problem if this fails. Absent outside local mode. */
  readonly fundWallet?: WalletPort['fund']
  /** Addresses of samples that replace providers. Absent outside local mode. */
  readonly samples?: ProviderAddresses | undefined
  /**
   * Replacements for tests: a ledger that stops at a chosen step, a product, an endpoint, a rail, and a database clock.
   * Also the load of the process, and limits of nodes and jobs.
   */
  readonly seams?: {
    readonly ledger?: (inner: PaymentLedger) => PaymentLedger
    readonly products?: (inner: BuiltinProducts) => BuiltinProducts
    readonly endpoints?: (inner: readonly Endpoint[]) => readonly Endpoint[]
    readonly rails?: (inner: readonly PaymentRail[]) => readonly PaymentRail[]
    readonly readDatabaseClockMs?: () => Promise<number>
    readonly nodes?: Partial<NodeLimits>
    readonly jobs?: Partial<JobLimits>
    readonly load?: FollowedLoad
  }
}

export interface Service {
  readonly port: number
  /** Port of the finance reports. Undefined if they are not served. */
  readonly financePort: number | undefined
  /** Port of the separate listener for health checks. Undefined if there is none. */
  readonly healthPort: number | undefined
  /** Returns the paths of the products that currently use samples. Always empty outside local mode. */
  sampled(): readonly string[]
  /** Reads the products file again. A file with a mistake changes nothing. */
  reload(): Promise<void>
  /** Stops accepting requests, answers those in progress, writes queued data, and closes every part. */
  close(): Promise<void>
}

/**
 * Opens the parts of the service in the order of this function. Each part receives its part of the configuration and
 * the ports of earlier parts. The code of each part is in `start/`.
 */
export async function createService(
  config: ServiceConfig,
  { log, clock = systemClock, seams = {}, samples, fundWallet }: ServiceOptions,
): Promise<Service> {
  // Close the parts in reverse order. This happens in `close`, or at once if a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const { catalog, providers, prices, products: delivery, sale, x402, currencies, server, limits } = config
  const base = { clock, log, metrics: createMetrics() }
  const lookups = createLookupCounts(() => clock.nowMs())
  // Pass the URL as a function, because it is known only when the service listens. Parts read it during requests.
  const address = createServiceAddress()
  const serviceUrl = address.url
  const { split, token, seller } = catalog
  const openFile = () => openGateway({ productsFile: catalog.productsFile, ...providers }, base)
  const gateway = opened.adopt(openFile(), closePart)
  const tabs = openTabs(config.tabs, base)
  const goods = await loadGoods(gateway.builtin)
  const builtin = goods?.products ?? []
  const soldWith = (routes: OpenRoutes) => {
    const offers = [...(seams.products?.(builtin) ?? builtin), ...routes.products, ...tabs.products]
    return soldProducts(offers, catalog, { ...providers, samples })
  }
  const sold = soldWith(gateway)

  const chainConfig = { ...config.chain, currencies: currencies.accepted }
  const chain = await openChain({ ...chainConfig, ...base, postJson, limits: seams.nodes })
  const { terms, dollars } = chain
  const ledger = opened.adopt(await openLedgerPart(config, { ...base, terms, dollars }), closePart)

  tabs.connect(ledger)
  const selling = { ...base, terms, dollars, ledger, goods, gateway, tabs, sold, split, lookups, samples, serviceUrl }
  const products = opened.adopt(await openProducts({ providers, prices, delivery }, selling), closePart)

  const { load, readDatabaseClockMs = ledger.upkeep.readDatabaseClockMs } = seams
  const upkeep = { ...ledger.upkeep, readDatabaseClockMs }
  const signer = opened.adopt(await openSignerPart(x402, base), closePart)
  const treasuryWallet = readAddress(currencies.treasuryWallet ?? '')
  const { tokenPriceAttoUsd, marketSources } = products
  const absence = { onAbsent: signer.recordAbsent }
  const ofMarkets = { tokenPriceAttoUsd, marketSources, limits: seams.jobs }
  const working = { ...base, ...absence, ledger, upkeep, chain, treasuryWallet, ...ofMarkets }
  const jobs = opened.adopt(await startJobs(sale, working), closePart)
  const { slot } = jobs
  const tabEnds = opened.adopt(await tabs.start({ ...products, chain, slot, readDatabaseClockMs }), closePart)
  const withSeam = () => seams.endpoints?.(products.endpoints()) ?? products.endpoints()
  const serveEndpoints = () => http.replaceEndpoints(withSeam())
  const reload = opened.adopt(createReload({ log, gateway, openFile, soldWith, products, serveEndpoints }), closePart)
  const checks = [jobs, ledger, products, signer, tabEnds].flatMap((part) => part.checks)
  const health = createHealth({ checks: [...checks, reload.check], whyNoQuotes: jobs.whyNoQuotes })

  const payable = { ...ledger, payments: seams.ledger?.(ledger.payments) ?? ledger.payments }
  const withRails = seams.rails ?? ((rails) => rails)
  const ways = { feePayer: signer.feePayer, fundWallet, withRails, sellerName: seller.name }
  const paying = { ...base, ...ways, ledger: payable, chain, products, split, token, jobs, tabEnds, health, serviceUrl }
  const { sales, wallets } = openPayments({ sale, x402, currencies }, paying)

  const { finance: access, refunds, reportsDatabaseUrl } = config
  const reporting = { access, refunds, reportsDatabaseUrl, publicUrl: server.publicUrl }
  const finance = opened.adopt(openFinance(reporting, { ...base, ledger, chain }), closePart)

  const endpoints = withSeam()
  const moreRoutes = [...products.routes, ...ledger.routes, ...finance.routes, ...tabEnds.routes]
  const { tokenPrice, searches, sampled } = products
  const offered = { terms, dollars, split, token, seller, endpoints, searches, tokenPrice, sales, wallets }
  const serving = { ...base, ...offered, ledger, moreRoutes, finance: finance.serving, health, address, lookups, load }
  const http = opened.adopt(await openHttp({ server, limits, quoteTtlMs: sale.quoteTtlMs }, serving), closePart)

  const parts = opened.move()
  return { ...http, sampled, reload: reload.reload, close: () => parts.disposeAsync() }
}
