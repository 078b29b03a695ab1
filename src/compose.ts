import packageJson from '../package.json' with { type: 'json' }
import type { Config, ReceiptSigningKey } from './config.ts'
import { openLedger } from './store/openLedger.ts'
import { openChain } from './chain/openChain.ts'
import { openFinance } from './composeFinance.ts'
import { openLife } from './composeLife.ts'
import { openPrices } from './composePrices.ts'
import { listeningUrl, openProducts, soldProducts } from './composeProducts.ts'
import { openSeal } from './composeSeal.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { artifactRoute } from './http/artifactRoute.ts'
import { createMetrics } from './http/metrics.ts'
import { openServer } from './http/openServer.ts'
import { startHealthJobs } from './jobs/healthJobs.ts'
import { postJson } from './outbound/postJson.ts'
import type { PaymentLedger } from './payment/paymentLedger.ts'
import type { SettingValue } from './payment/settings.ts'
import type { PaymentTerms } from './payment/settlement.ts'
import { createReceiptSigner, publicKeysOf } from './paywall/sendReceipt.ts'
import type { PaymentRail } from './paywall/rail.ts'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import { newId } from '@tollbook/core/id'
import type { Log } from './primitives/log.ts'
import { createNativeRail } from './rails/native/nativeRail.ts'
import { burnStats } from './reports/burnStats.ts'

/** A configuration in which nothing is left to local mode. */
export type ServiceConfig = Config & {
  readonly databaseUrl: string
  readonly chain: NonNullable<Config['chain']>
  readonly receiptSigningKey: ReceiptSigningKey
}

export interface ServiceOptions {
  readonly log: Log
  readonly clock?: Clock
  /** Where tests put something between the parts: a ledger that dies at a chosen step, an endpoint or a rail of their own. */
  readonly seams?: {
    readonly ledger?: (inner: PaymentLedger) => PaymentLedger
    readonly endpoints?: (inner: readonly Endpoint[]) => readonly Endpoint[]
    readonly rails?: (inner: readonly PaymentRail[]) => readonly PaymentRail[]
  }
}

export interface Service {
  readonly port: number
  /** Where the finance reports are; undefined when they are not served. */
  readonly financePort: number | undefined
  /** Stops taking requests, answers those under way, writes what is queued, closes everything. */
  close(): Promise<void>
}

// In flight: enough for hundreds of callers who wait for a chain, few enough to fit into memory with the largest bodies.
const inFlightMax = 1_000
// A transaction that we sent is waited for this long; a slot takes 0.4 s and a confirmation a few slots.
const broadcastWaitMs = 10_000
const drainTimeoutMs = 35_000

/** The only place where the parts meet. */
export async function createService(
  config: ServiceConfig,
  { log, clock = systemClock, seams = {} }: ServiceOptions,
): Promise<Service> {
  // Closed in reverse order: by `close`, or at once when a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics()
  const { databaseUrl, receiptSigningKey } = config
  const applicationName = newId('instance')
  const ledger = await openLedger({ databaseUrl, applicationName, clock, log, onFlush: metrics.onFlush })
  opened.defer(() => ledger.close())
  const seal = await openSeal(config, { clock, log, database: ledger.database, onSeal: metrics.onSeal })
  opened.defer(() => seal.stop())
  const { commitment, chain: chainConfig } = config
  const chain = await openChain({ ...chainConfig, commitment, postJson, log, onCall: metrics.onRpcCall })
  await ledger.settings.record(settingsOf(config, chain.terms))
  const { version } = packageJson
  const upstreamDeps = { clock, log, contact: config.contact, version, onCall: metrics.onUpstreamCall }
  const sold = soldProducts(config)
  const prices = await openPrices(config, { upstreamDeps, priceLists: ledger.priceLists, sold, terms: chain.terms })
  opened.defer(() => prices.stop())

  const healthJobs = await startHealthJobs({ clock, log, ledger, chain })
  opened.defer(() => healthJobs.stop())
  const life = openLife(config, { clock, log, metrics, ledger, chain })
  opened.defer(() => life.stop())
  let publicUrl = config.publicUrl ?? ''
  const catalog = await openProducts(config, {
    sold,
    upstreamDeps,
    database: ledger.database,
    publicUrl: () => publicUrl,
  })
  opened.defer(() => catalog.close())
  const finance = openFinance(config, { clock, log, databaseUrl, chain })
  opened.defer(() => finance.stop())
  let draining = false

  const payments = seams.ledger?.(ledger.payments) ?? ledger.payments
  const { currentPrice, tokenPrice } = prices
  const paymentDeps = { ...config, clock, log, ledger: payments, terms: chain.terms, currentPrice }
  const waits = { lookupWaitMs: config.proofLookupWaitMs, broadcastWaitMs }
  const nativeRail = createNativeRail({
    ...paymentDeps,
    ...waits,
    split: config.split,
    chain: chain.reader,
    slot: healthJobs.slot,
  })
  const server = await openServer({
    ...config,
    clock,
    log,
    metrics,
    inFlightMax,
    version,
    endpoints: seams.endpoints?.(catalog.endpoints) ?? catalog.endpoints,
    moreRoutes: [artifactRoute(catalog.artifacts, clock), ...seal.routes],
    finance: finance.serving,
    isDraining: () => draining,
    terms: chain.terms,
    checks: [...healthJobs.checks, seal.check, ...prices.checks, ...life.checks],
    receiptKeys: await publicKeysOf(receiptSigningKey),
    tokenPrice,
    burnStats: () => burnStats({ database: ledger.database, clock }, chain.terms),
    paywall: {
      ...paymentDeps,
      leaseMs: config.claimLeaseMs,
      whyExposed: life.whyExposed,
      rails: seams.rails?.([nativeRail]) ?? [nativeRail],
      signReceipt: await createReceiptSigner(receiptSigningKey),
      whyClosed: () => (draining ? 'the server is shutting down' : (seal.check.problem() ?? healthJobs.problem())),
      onFault: (fault, requestId) => log.warn({ event: 'outcome_unknown', requestId, error: describeError(fault) }),
    },
  })
  publicUrl ||= listeningUrl(config.host, server.port)
  opened.defer(() => {
    draining = true
    return server.drain({ timeoutMs: drainTimeoutMs })
  })
  const kept = opened.move()
  return { port: server.port, financePort: server.financePort, close: () => kept.disposeAsync() }
}

/** Settings of the ledger: a reader of old receipts and payments needs the values of their day. */
function settingsOf({ split, receiptSigningKey }: ServiceConfig, terms: PaymentTerms): readonly SettingValue[] {
  const { kty, crv, x } = receiptSigningKey
  const { mint, decimals, tokenProgram, paymentWallet } = terms
  return [
    { name: 'receipt-key', value: { kty: kty ?? '', crv: crv ?? '', x: x ?? '' } },
    { name: 'payment-wallet', value: paymentWallet },
    { name: `mint/${mint}`, value: { decimals, tokenProgram } },
    { name: 'split', value: split.map(({ account, perMille }) => ({ account, perMille })) },
  ]
}
