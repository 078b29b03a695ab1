import type { Config } from './config.ts'
import { createDexscreener } from './endpoints/providers/dexscreener.ts'
import { createGeckoterminal } from './endpoints/providers/geckoterminal.ts'
import { createJupiter } from './endpoints/providers/jupiter.ts'
import type { Market, Mint } from './endpoints/providers/marketPrice.ts'
import type { ProviderDeps } from './endpoints/providers/provider.ts'
import { type PriceSource, type PriceWatchDeps, startPriceWatch } from './jobs/priceWatch.ts'
import type { Check } from './jobs/watches.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import { UpstreamFailure } from './outbound/upstreamFailure.ts'
import type { PriceListPublished } from './payment/events.ts'
import type { Price } from '@tollbook/core/quote'
import type { PaymentTerms } from './payment/settlement.ts'
import type { MarketReading } from './pricing/agreement.ts'
import { priceAll } from './pricing/currentPrice.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from './pricing/tokenPrice.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { displayNumber } from '@tollbook/core/money'

/** What a request costs, by the operator's word or by the markets'. */
export interface Prices {
  readonly checks: readonly Check[]
  currentPrice(endpoint: string): Price | undefined
  /** For `/api/token/price`. */
  tokenPrice(): Json | undefined
  stop(): Promise<void>
}

export interface PricesDeps {
  readonly upstreamDeps: UpstreamDeps
  readonly terms: PaymentTerms
  readonly ledger: PriceWatchDeps['ledger'] & { publishPrices(list: PriceListPublished): Promise<void> }
}

export async function openPrices(config: Config, deps: PricesDeps): Promise<Prices> {
  return config.tokenPriceSource === 'fixed' ? openFixedPrices(config, deps) : openMarketPrices(config, deps)
}

async function openFixedPrices({ tokenPriceAttoUsd }: Config, deps: PricesDeps): Promise<Prices> {
  const { terms, ledger } = deps
  const prices = pricesOf(tokenPriceAttoUsd, terms)
  if (prices === undefined)
    throw new Fault('TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist', {
      retryable: false,
    })
  await ledger.publishPrices({ kind: 'PriceListPublished', source: 'fixed', prices })
  const byEndpoint = new Map(prices.map((price) => [price.endpoint, price]))
  return {
    checks: [],
    currentPrice: (endpoint) => byEndpoint.get(endpoint),
    tokenPrice: () =>
      tokenPriceOf({ tokenPriceAttoUsd, source: 'fixed', asOfMs: deps.upstreamDeps.clock.nowMs() }, terms),
    stop: () => Promise.resolve(),
  }
}

async function openMarketPrices(config: Config, { upstreamDeps, terms, ledger }: PricesDeps) {
  const { clock, log } = upstreamDeps
  const sourceName = config.sampleUpstreams ? 'sample:market' : 'market'
  const watch = await startPriceWatch({
    clock,
    log,
    ledger,
    sources: marketsOf(config, upstreamDeps).map((market) => sourceOf(market, config, terms)),
    policy: config.marketPrice,
    sourceName,
    pricesAt: (tokenPriceAttoUsd) => pricesOf(tokenPriceAttoUsd, terms),
  })
  return {
    checks: [{ name: 'price', problem: watch.problem, quotesOnly: true }],
    currentPrice: (endpoint: string) => watch.inForce()?.prices.find((price) => price.endpoint === endpoint),
    tokenPrice() {
      const price = watch.inForce()
      if (price === undefined) return undefined
      const { tokenPriceAttoUsd, agreedAtMs, readings } = price
      const said = tokenPriceOf({ tokenPriceAttoUsd, source: sourceName, asOfMs: agreedAtMs }, terms)
      return { ...said, sources: readings.map(readingOf) }
    },
    stop: watch.stop,
  }
}

function marketsOf({ upstreams, sampleUpstreams }: Config, upstreamDeps: UpstreamDeps): readonly Market[] {
  const providerDeps: ProviderDeps = {
    ...upstreamDeps,
    upstreams,
    sampleUpstreams,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  }
  return [createJupiter(providerDeps), createDexscreener(providerDeps), createGeckoterminal(providerDeps)]
}

function sourceOf(market: Market, { sampleUpstreams }: Config, { mint, decimals }: PaymentTerms): PriceSource {
  const source = sampleUpstreams ? `sample:${market.name}` : market.name
  const asked: Mint = { address: mint, decimals }
  return {
    async ask() {
      try {
        return { source, ...(await market.ask(asked)).data }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        // The kind alone: the words are partly the provider's, and this is for callers and for the book.
        return { source, why: error.kind }
      }
    },
  }
}

function pricesOf(tokenPriceAttoUsd: TokenPriceAttoUsd, { mint, decimals }: PaymentTerms) {
  return priceAll(tokenPriceAttoUsd, decimals)?.map((price): Price => ({ ...price, mint }))
}

interface SaidPrice {
  readonly tokenPriceAttoUsd: TokenPriceAttoUsd
  readonly source: string
  readonly asOfMs: number
}

function tokenPriceOf({ tokenPriceAttoUsd, source, asOfMs }: SaidPrice, { mint, decimals }: PaymentTerms) {
  const priceUSD = displayNumber(tokenPriceAttoUsd, tokenPriceDecimals)
  return { priceUSD, source, asOf: isoTime(asOfMs), mint, decimals }
}

function readingOf({ source, tokenPriceAttoUsd, liquidityUsd }: MarketReading): Json {
  const priceUSD = displayNumber(tokenPriceAttoUsd, tokenPriceDecimals)
  return { source, priceUSD, liquidityUSD: liquidityUsd === undefined ? null : displayNumber(liquidityUsd, 0) }
}
