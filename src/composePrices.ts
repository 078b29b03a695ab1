import type { Config } from './config.ts'
import { createDexscreener } from './endpoints/providers/dexscreener.ts'
import { createGeckoterminal } from './endpoints/providers/geckoterminal.ts'
import { createJupiter } from './endpoints/providers/jupiter.ts'
import type { Market, Mint } from './endpoints/providers/marketPrice.ts'
import type { ProviderDeps } from './endpoints/providers/provider.ts'
import { type PriceSource, type PriceJobDeps, startPriceJob } from './jobs/priceJob.ts'
import type { Check } from './jobs/healthJobs.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import { UpstreamFailure } from './outbound/upstreamFailure.ts'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { PriceListStore } from './store/priceListStore.ts'
import type { PaymentTerms } from './payment/settlement.ts'
import type { MarketReading } from './pricing/agreement.ts'
import { priceAll, type TokenValue } from './pricing/currentPrice.ts'
import type { PricedProduct } from './pricing/priceList.ts'
import { type TokenPriceAttoUsd, tokenPriceDecimals } from './pricing/tokenPrice.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { displayNumber } from '@tollbook/core/money'

/** What a request costs, by the operator's word or by the markets'. */
export interface Prices {
  readonly checks: readonly Check[]
  currentPrice(endpoint: string): ListedPrice | undefined
  /** For `/api/token/price`. */
  tokenPrice(): Json | undefined
  stop(): Promise<void>
}

export interface PricesDeps {
  readonly upstreamDeps: UpstreamDeps
  readonly terms: PaymentTerms
  /** What is sold, at its price in dollars. */
  readonly sold: readonly PricedProduct[]
  readonly priceLists: PriceJobDeps['priceLists'] & Pick<PriceListStore, 'publish'>
}

export async function openPrices(config: Config, deps: PricesDeps): Promise<Prices> {
  return config.tokenPriceSource === 'fixed' ? openFixedPrices(config, deps) : openMarketPrices(config, deps)
}

async function openFixedPrices({ tokenPriceAttoUsd, split }: Config, deps: PricesDeps): Promise<Prices> {
  const { terms, priceLists } = deps
  const prices = pricesOf({ tokenPriceAttoUsd, split }, deps)
  if (prices === undefined)
    throw new Fault('TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist', {
      retryable: false,
    })
  const priceList = await priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split, prices })
  const byEndpoint = new Map(prices.map((price): [string, ListedPrice] => [price.endpoint, { ...price, priceList }]))
  return {
    checks: [],
    currentPrice: (endpoint) => byEndpoint.get(endpoint),
    tokenPrice: () =>
      tokenPriceOf({ tokenPriceAttoUsd, source: 'fixed', asOfMs: deps.upstreamDeps.clock.nowMs() }, terms),
    stop: () => Promise.resolve(),
  }
}

async function openMarketPrices(config: Config, deps: PricesDeps) {
  const { upstreamDeps, terms, priceLists } = deps
  const { split } = config
  const { clock, log } = upstreamDeps
  const sourceName = config.sampleUpstreams ? 'sample:market' : 'market'
  const watch = await startPriceJob({
    clock,
    log,
    priceLists,
    split,
    sources: marketsOf(config, upstreamDeps).map((market) => sourceOf(market, config, terms)),
    policy: config.marketPrice,
    sourceName,
    pricesAt: (tokenPriceAttoUsd) => pricesOf({ tokenPriceAttoUsd, split }, deps),
  })
  return {
    checks: [{ name: 'price', problem: watch.problem, quotesOnly: true }],
    currentPrice(endpoint: string) {
      const inForce = watch.inForce()
      const price = inForce?.prices.find((listed) => listed.endpoint === endpoint)
      return inForce === undefined || price === undefined ? undefined : { ...price, priceList: inForce.priceList }
    },
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

function pricesOf(value: Omit<TokenValue, 'decimals'>, { sold, terms: { mint, decimals } }: PricesDeps) {
  return priceAll(sold, { ...value, decimals })?.map((price): Price => ({ ...price, mint }))
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
