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
import { type Closable, closePart } from './start/closePart.ts'
import { openFinance } from './start/finance/openFinance.ts'
import { createReload } from './start/gateway/createReload.ts'
import { openGateway } from './start/gateway/openGateway.ts'
import { openHttp } from './start/http/openHttp.ts'
import { createHealth } from './start/jobs/health.ts'
import { type JobLimits, startJobs } from './start/jobs/startJobs.ts'
import { openLedgerPart } from './start/ledger/openLedgerPart.ts'
import { openPayments } from './start/payments/openPayments.ts'
import { openTabs, tabProducts } from './start/tabs/openTabs.ts'
import { openSignerPart } from './start/payments/openSignerPart.ts'
import { type Offers, openProducts } from './start/products/openProducts.ts'
import { soldProducts } from './start/products/soldProducts.ts'

export { loadGoods } from './start/builtin/loadGoods.ts'
export { requireFreePorts } from './start/http/freePorts.ts'

export interface ServiceOptions {
  readonly log: Log
  readonly clock?: Clock
  /** Returns the problem if the wallet cannot be funded. Absent outside local mode. */
  readonly fundWallet?: WalletPort['fund']
  /** Addresses of samples that replace providers. Absent outside local mode. */
  readonly samples?: ProviderAddresses | undefined
  /** Tests replace these parts, for example by a ledger that stops at a chosen step. */
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
  /** Paths of the products that currently use samples. */
  sampled(): readonly string[]
  /** A products file with a mistake changes nothing. */
  reload(): Promise<void>
  /** Stops accepting requests, answers those in progress, writes queued data, and closes every part. */
  close(): Promise<void>
}

/** The order of this function is the order of the parts: each part receives only the earlier parts that its type lists. */
export async function createService(config: ServiceConfig, options: ServiceOptions): Promise<Service> {
  const { log, clock = systemClock, seams = {}, samples, fundWallet } = options
  // Close the parts in reverse order. This happens in `close`, or at once if a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const keep = <Part extends Closable>(part: Part): Part => opened.adopt(part, closePart)
  const { accepted: currencies } = config.currencies
  const base = { clock, log, metrics: createMetrics() }
  const lookups = createLookupCounts(() => clock.nowMs())
  // Pass the URL as a function, because it is known only when the service listens. Parts read it during requests.
  const address = createServiceAddress()
  const serviceUrl = address.url

  const openFile = () => openGateway(config, base)
  const gateway = keep(openFile())
  const loaded = await loadGoods(gateway.builtin)
  const goods = loaded && { ...loaded, products: seams.products?.(loaded.products) ?? loaded.products }
  const offersWith = (file: OpenRoutes): Offers => {
    const offered = [...(goods?.products ?? []), ...file.products, ...tabProducts(config.tabs)]
    return { gateway: file, sold: soldProducts(offered, config.catalog, { ...config.providers, samples }) }
  }
  const offers = offersWith(gateway)

  const chain = await openChain({ ...config.chain, ...base, currencies, postJson, limits: seams.nodes })
  const ledger = keep(await openLedgerPart(config, { ...base, chain, readDatabaseClockMs: seams.readDatabaseClockMs }))

  const tabs = openTabs(config.tabs, { clock, ledger, chain })
  const products = keep(
    await openProducts(config, { ...base, ...offers, chain, ledger, goods, tabs, lookups, samples, serviceUrl }),
  )
  const endpoints = () => seams.endpoints?.(products.endpoints()) ?? products.endpoints()
  const signer = keep(await openSignerPart(config.x402, base))
  const jobs = keep(await startJobs(config, { ...base, limits: seams.jobs, ledger, chain, products, signer }))
  const tabEnds = keep(await tabs.startEnds({ log, slot: jobs.slot }))
  const reload = keep(createReload({ log, gateway, openFile }))
  const health = createHealth([jobs, ledger, products, signer, tabEnds, reload].flatMap((part) => part.checks))

  const payments = openPayments(config, {
    ...base,
    ledger: { ...ledger, payments: seams.ledger?.(ledger.payments) ?? ledger.payments },
    chain,
    products,
    signer,
    jobs,
    tabEnds,
    health,
    serviceUrl,
    fundWallet,
    withRails: seams.rails,
  })
  const finance = keep(openFinance(config, { ...base, ledger, chain }))
  const http = await openHttp(config, {
    ...base,
    chain,
    ledger,
    products,
    payments,
    endpoints: endpoints(),
    moreRoutes: [products, ledger, finance, tabEnds].flatMap((part) => part.routes),
    finance: finance.serving,
    health,
    address,
    lookups,
    load: seams.load,
  })
  keep(http)

  const sell = (file: OpenRoutes) => products.replace(offersWith(file), () => http.replaceEndpoints(endpoints()))
  const parts = opened.move()
  return { ...http, sampled: products.sampled, reload: () => reload.reload(sell), close: () => parts.disposeAsync() }
}
