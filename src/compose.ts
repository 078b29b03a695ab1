import { openChain } from './chain/openChain.ts'
import type { ServiceConfig } from './config.ts'
import { products } from './endpoints/catalog.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { openCallers } from './http/callers.ts'
import { createLookupCounts } from './http/lookupCounts.ts'
import type { WalletPort } from './http/payRoutes.ts'
import { createMetrics } from './http/metrics.ts'
import { startHealthJobs } from './jobs/healthJobs.ts'
import { postJson } from './outbound/postJson.ts'
import type { PaymentLedger } from './payment/paymentLedger.ts'
import type { PaymentRail } from './paywall/rail.ts'
import { type Clock, systemClock } from '@tollbook/core/clock'
import type { Log } from './primitives/log.ts'
import { close } from './start/closePart.ts'
import { createHealth } from './start/health.ts'
import { openFinance } from './start/openFinance.ts'
import { openLedger } from './start/openLedger.ts'
import { openLifecycle } from './start/openLifecycle.ts'
import { openListener } from './start/openListener.ts'
import { openPrices } from './start/openPrices.ts'
import { openProducts } from './start/openProducts.ts'
import { openProviders } from './start/openProviders.ts'
import { openReceiptKeys } from './start/openReceiptKeys.ts'
import { openSale } from './start/openSale.ts'
import { openSeal } from './start/openSeal.ts'
import { openSettings, settingsOptionsOf } from './start/openSettings.ts'
import { createServiceAddress } from './start/serviceAddress.ts'
import { soldProducts, type SoldProducts } from './start/soldProducts.ts'

export interface ServiceOptions {
  readonly log: Log
  readonly clock?: Clock
  /** Gives a wallet tokens of a local chain; returns the problem. Absent outside local mode. */
  readonly fundWallet?: WalletPort['fund']
  /** Replacements for tests: a ledger that dies at a chosen step, a product, an endpoint, a rail or a database clock. */
  readonly seams?: {
    readonly ledger?: (inner: PaymentLedger) => PaymentLedger
    readonly products?: (inner: SoldProducts) => SoldProducts
    readonly endpoints?: (inner: readonly Endpoint[]) => readonly Endpoint[]
    readonly rails?: (inner: readonly PaymentRail[]) => readonly PaymentRail[]
    readonly readDatabaseClockMs?: () => Promise<number>
  }
}

export interface Service {
  readonly port: number
  /** Port of the finance reports; undefined when they are not served. */
  readonly financePort: number | undefined
  /** Port of the separate listener for health checks; undefined without one. */
  readonly healthPort: number | undefined
  /** Paths of the products that are made of samples at the moment; always empty outside local mode. */
  sampled(): readonly string[]
  /** Stops accepting requests, answers those in progress, writes what is queued, and closes every part. */
  close(): Promise<void>
}

/** Opens the parts of the service in order. A part takes its own settings and the ports of the parts before it. */
export async function createService(
  config: ServiceConfig,
  { log, clock = systemClock, seams = {}, fundWallet }: ServiceOptions,
): Promise<Service> {
  // Parts are closed in reverse order: by `close`, or at once when a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const deps = { clock, log, metrics: createMetrics(), lookups: createLookupCounts(() => clock.nowMs()) }

  const ledger = opened.adopt(await openLedger(config.ledger, deps), close)
  const chain = await openChain({ ...config.chain, ...deps, postJson })
  const { terms } = chain
  const settings = opened.adopt(await openSettings(settingsOptionsOf(config), { ...deps, ledger, terms }), close)
  const keys = await openReceiptKeys(config.receiptSigningKey, { ...deps, settings, priceLists: ledger.priceLists })
  const seal = opened.adopt(await openSeal(config.seal, { ...deps, ledger: ledger.seal, keys }), close)
  const sold = soldProducts(seams.products?.(products) ?? products, config.catalog, config.providers)
  const { split } = config.catalog
  await settings.record()
  const { providers, standIns } = openProviders(config.providers, { ...deps, sold, terms })
  const prices = opened.adopt(
    await openPrices(config.prices, { ...deps, priceLists: ledger.priceLists, providers, sold, split, terms }),
    close,
  )
  const { readDatabaseClockMs = ledger.upkeep.readDatabaseClockMs } = seams
  const jobs = await startHealthJobs({ clock, log, ledger: { ...ledger.upkeep, readDatabaseClockMs }, chain })
  opened.defer(() => jobs.stop())
  const lifecycle = opened.adopt(openLifecycle(config.lifecycle, { ...deps, ledger, chain, settings }), close)
  const address = createServiceAddress(config.server)
  const catalog = opened.adopt(
    await openProducts(config.products, { ...deps, sold, ledger, providers, standIns, publicUrl: address.url }),
    close,
  )
  const finance = opened.adopt(openFinance(config, { ...deps, ledger, chain, settings, keys }), close)

  const health = createHealth({ jobs, seal, settings, prices, lifecycle, catalog })
  const paywall = openSale(config.sale, {
    ...deps,
    ledger: seams.ledger?.(ledger.payments) ?? ledger.payments,
    presentations: ledger.presentations,
    chain,
    keys,
    settings,
    prices,
    lifecycle,
    health,
    slot: jobs.slot,
    split,
    sponsored: { settings: config.x402, priceLists: ledger.priceLists, catalog, serviceUrl: address.url },
    withRails: seams.rails,
  })
  const callers = opened.adopt(openCallers({ ...config.server, limits: config.limits }, { ...deps, ledger }), close)
  const serving = await openListener(config.server, {
    ...deps,
    address,
    callers,
    paywall,
    wallets: { ledger: ledger.payments, chain, slot: jobs.slot, fundWallet },
    endpoints: seams.endpoints?.(catalog.endpoints) ?? catalog.endpoints,
    routes: [...catalog.routes, ...seal.routes, ...finance.routes],
    finance: finance.serving,
    health,
    keys,
    prices,
    ...ledger.burnReads(terms),
    terms,
    split,
  })
  const { port, financePort, healthPort } = opened.adopt(serving, close)
  const stored = opened.move()
  return { port, financePort, healthPort, sampled: catalog.sampled, close: () => stored.disposeAsync() }
}
