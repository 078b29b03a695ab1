import { type Clock, systemClock } from '@tollbook/core/clock'
import { openChain } from './chain/openChain.ts'
import type { ServiceConfig } from './config.ts'
import { products as definitions } from './endpoints/catalog.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { createLookupCounts } from './http/lookupCounts.ts'
import { createMetrics } from './http/metrics.ts'
import type { WalletPort } from './http/payRoutes.ts'
import { createServiceAddress } from './http/serviceAddress.ts'
import { postJson } from './outbound/postJson.ts'
import type { PaymentLedger } from './payment/paymentLedger.ts'
import type { PaymentRail } from './paywall/rail.ts'
import type { Log } from './primitives/log.ts'
import { close } from './start/closePart.ts'
import { openFinance } from './start/finance/openFinance.ts'
import { openHttp } from './start/http/openHttp.ts'
import { createHealth } from './start/jobs/health.ts'
import { startJobs } from './start/jobs/startJobs.ts'
import { openLedger } from './start/ledger/openLedger.ts'
import { partSettings } from './start/partSettings.ts'
import { openPayments } from './start/payments/openPayments.ts'
import { openProducts } from './start/products/openProducts.ts'
import { soldProducts, type SoldProducts } from './start/products/soldProducts.ts'

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
  const settings = partSettings(config)
  const base = { clock, log, metrics: createMetrics() }
  const lookups = createLookupCounts(() => clock.nowMs())
  // Known when the service listens, and read only while it answers requests.
  const address = createServiceAddress()
  const { split } = config.catalog
  const sold = soldProducts(seams.products?.(definitions) ?? definitions, config.catalog, config.providers)

  const chain = await openChain({ ...settings.chain, ...base, postJson })
  const { terms } = chain
  const ledger = opened.adopt(await openLedger(settings.ledger, { ...base, terms }), close)
  const products = opened.adopt(
    await openProducts(settings.products, { ...base, terms, ledger, sold, split, lookups, serviceUrl: address.url }),
    close,
  )
  const { readDatabaseClockMs = ledger.upkeep.readDatabaseClockMs } = seams
  const upkeep = { ...ledger.upkeep, readDatabaseClockMs }
  const jobs = opened.adopt(await startJobs(settings.jobs, { ...base, ledger, upkeep, chain }), close)
  const checks = [...ledger.checks, ...jobs.checks, ...products.checks]
  const health = createHealth({ checks, whyNoQuotes: jobs.whyNoQuotes })
  const payments = openPayments(settings.payments, {
    ...base,
    ledger: { ...ledger, payments: seams.ledger?.(ledger.payments) ?? ledger.payments },
    chain,
    products,
    split,
    jobs,
    health,
    serviceUrl: address.url,
    fundWallet,
    withRails: seams.rails,
  })
  const finance = opened.adopt(openFinance(settings.finance, { ...base, ledger, chain }), close)
  const http = await openHttp(settings.http, {
    ...base,
    terms,
    ledger,
    products,
    payments,
    health,
    address,
    lookups,
    split,
    endpoints: seams.endpoints?.(products.endpoints) ?? products.endpoints,
    routes: [...products.routes, ...ledger.routes, ...finance.routes],
    finance: finance.serving,
  })
  opened.adopt(http, close)
  const { port, financePort, healthPort } = http
  const stored = opened.move()
  return { port, financePort, healthPort, sampled: products.sampled, close: () => stored.disposeAsync() }
}
