import packageJson from '../package.json' with { type: 'json' }
import type { Config, ReceiptSigningKey } from './config.ts'
import { openLedger } from './store/openLedger.ts'
import { openChain } from './chain/openChain.ts'
import { openProducts } from './composeProducts.ts'
import { openSeal } from './composeSeal.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { createMetrics } from './http/metrics.ts'
import { openServer } from './http/openServer.ts'
import { startWatches } from './jobs/watches.ts'
import { postJson } from './outbound/postJson.ts'
import type { PaymentLedger } from './payment/paymentLedger.ts'
import type { Price } from './payment/quote.ts'
import type { PaymentTerms } from './payment/settlement.ts'
import { createReceiptSigner, publicKeysOf } from './paywall/sendReceipt.ts'
import { createNativeRail } from './paywall/verifyPayment.ts'
import { priceAll } from './pricing/currentPrice.ts'
import { baseUnitsMax, tokenPriceDecimals } from './pricing/tokenPrice.ts'
import { type Clock, isoTime, systemClock } from './primitives/clock.ts'
import { describeError, Fault } from './primitives/fault.ts'
import { newId } from './primitives/id.ts'
import type { Log } from './primitives/log.ts'
import { displayNumber } from './primitives/money.ts'
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
  /** Where tests put something between the parts: a ledger that dies at a chosen step, an endpoint of their own. */
  readonly seams?: {
    readonly ledger?: (inner: PaymentLedger) => PaymentLedger
    readonly endpoints?: (inner: readonly Endpoint[]) => readonly Endpoint[]
  }
}

export interface Service {
  readonly port: number
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
  const prices = new Map(pricesOf(config, chain.terms).map((price) => [price.endpoint, price]))
  await ledger.publishPrices({ kind: 'PriceListPublished', source: 'fixed', prices: [...prices.values()] })

  const watches = await startWatches({ clock, log, ledger, chain })
  opened.defer(() => watches.stop())
  const catalog = openProducts(config, { clock, log, onUpstreamCall: metrics.onUpstreamCall })
  opened.defer(() => catalog.close())
  let draining = false

  const payments = seams.ledger?.(ledger.payments) ?? ledger.payments
  const currentPrice = (endpoint: string): Price | undefined => prices.get(endpoint)
  const paymentDeps = { ...config, clock, log, ledger: payments, terms: chain.terms, currentPrice }
  const server = await openServer({
    ...config,
    clock,
    log,
    metrics,
    inFlightMax,
    version: packageJson.version,
    endpoints: seams.endpoints?.(catalog.endpoints) ?? catalog.endpoints,
    isDraining: () => draining,
    checks: [...watches.checks, seal.check],
    moreRoutes: seal.routes,
    receiptKeys: await publicKeysOf(receiptSigningKey),
    tokenPrice: () => tokenPriceOf(config, chain.terms, clock),
    burnStats: () => burnStats({ database: ledger.database, clock }, chain.terms),
    paywall: {
      ...paymentDeps,
      leaseMs: config.claimLeaseMs,
      slot: watches.slot,
      rails: [
        createNativeRail({
          ...paymentDeps,
          chain: chain.reader,
          lookupWaitMs: config.proofLookupWaitMs,
          broadcastWaitMs,
        }),
      ],
      signReceipt: await createReceiptSigner(receiptSigningKey),
      whyClosed: () => (draining ? 'the server is shutting down' : (seal.check.problem() ?? watches.problem())),
      onFault: (fault, requestId) => log.warn({ event: 'outcome_unknown', requestId, error: describeError(fault) }),
    },
  })
  opened.defer(() => {
    draining = true
    return server.drain({ timeoutMs: drainTimeoutMs })
  })
  const kept = opened.move()
  return { port: server.port, close: () => kept.disposeAsync() }
}

function pricesOf({ tokenPriceAttoUsd }: ServiceConfig, { mint, decimals }: PaymentTerms): readonly Price[] {
  const prices = priceAll(tokenPriceAttoUsd, decimals)
  if (prices.some(({ requiredBaseUnits }) => requiredBaseUnits > baseUnitsMax)) {
    throw new Fault('TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist', {
      retryable: false,
    })
  }
  return prices.map((price) => ({ ...price, mint }))
}

function tokenPriceOf({ tokenPriceAttoUsd }: ServiceConfig, { mint, decimals }: PaymentTerms, clock: Clock) {
  return {
    priceUSD: displayNumber(tokenPriceAttoUsd, tokenPriceDecimals),
    source: 'fixed',
    asOf: isoTime(clock.nowMs()),
    mint,
    decimals,
  }
}
