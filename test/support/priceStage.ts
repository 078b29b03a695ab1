import { assert } from '@tollbook/core/assert'
import { crypto } from '../../src/products/crypto/crypto.ts'
import type { Endpoint, ReadParameters } from '../../src/product/endpoint.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { stock } from '../../src/products/stock/stock.ts'
import { type Answering, type LoopbackProvider, startLoopbackProvider, text } from './loopbackProvider.ts'
import { openProviderFixture } from './providerFixture.ts'
import { sampleAnswer, sampleTimeMs } from './upstreamSample.ts'

/** The providers of prices, each with its own loopback server and the sample that it serves by default. */
const samples = {
  COINGECKO: 'coingecko/markets-btc',
  COINPAPRIKA: 'coinpaprika/ticker-btc',
  COINBASE: 'coinbase-exchange/ticker-btc-usd',
  KRAKEN: 'kraken/ticker-xbtusd',
  TWELVE_DATA: 'twelvedata/quote-aapl',
  YAHOO: 'yahoo/chart-aapl-1d',
  STOOQ: 'stooq/light-aapl-with-prev',
  NASDAQ: 'nasdaq/info-aapl-closed',
  DEXSCREENER: 'dexscreener/tokens-v1',
  GECKOTERMINAL: 'geckoterminal/simple-token-price-full',
  JUPITER: 'jupiter/price-v3-two',
} as const
export type PriceProvider = keyof typeof samples
const names = [
  'COINGECKO',
  'COINPAPRIKA',
  'COINBASE',
  'KRAKEN',
  'TWELVE_DATA',
  'YAHOO',
  'STOOQ',
  'NASDAQ',
  'DEXSCREENER',
  'GECKOTERMINAL',
  'JUPITER',
] as const satisfies readonly PriceProvider[]

/** Samples of the other paths of a provider. */
const others: Partial<Record<PriceProvider, (asked: URL) => string | undefined>> = {
  COINGECKO(asked) {
    if (asked.pathname.endsWith('/exchange_rates')) return 'coingecko/exchange-rates'
    return asked.pathname.endsWith('/ohlc') ? 'coingecko/ohlc-bitcoin-1d' : undefined
  },
  KRAKEN(asked) {
    if (asked.pathname.endsWith('/OHLC')) return 'kraken/ohlc-xbtusd'
    return asked.searchParams.get('pair')?.startsWith('EURUSD') === true ? 'kraken/ticker-rates' : undefined
  },
  COINBASE: (asked) => (asked.pathname.endsWith('/candles') ? 'coinbase-exchange/candles-btc-usd' : undefined),
  NASDAQ: (asked) => (asked.pathname.endsWith('/historical') ? 'nasdaq/historical-aapl-5d' : undefined),
  TWELVE_DATA: (asked) => (asked.pathname === '/quote' ? undefined : 'twelvedata/time-series-aapl-5d'),
  YAHOO: (asked) => (asked.searchParams.get('range') === '1d' ? undefined : 'yahoo/chart-aapl-5d'),
}

export function honest(name: PriceProvider): Answering {
  return (response, asked) => sampleAnswer(others[name]?.(asked.url) ?? samples[name])(response, asked)
}

export type Sayings = Partial<Record<PriceProvider, Answering>>

export interface PriceStageOptions {
  readonly says?: Sayings
  readonly twelveDataKey?: string
  readonly timeMs?: number
}

/** Opens the products crypto and stock over the same servers, once for each test. */
export async function startPriceServers() {
  const servers = new Map<PriceProvider, LoopbackProvider>()
  for (const name of names) servers.set(name, await startLoopbackProvider())
  const serverOf = (name: PriceProvider): LoopbackProvider => {
    const server = servers.get(name)
    assert(server !== undefined, 'every provider has a server')
    return server
  }
  return ({ says = {}, twelveDataKey, timeMs = sampleTimeMs }: PriceStageOptions = {}) => {
    const settings = names.map((name) => [
      name,
      { url: serverOf(name).url, apiKey: name === 'TWELVE_DATA' ? twelveDataKey : undefined },
    ])
    const fixture = openProviderFixture(Object.fromEntries(settings), timeMs)
    const say = (more: Sayings) => {
      for (const name of names) serverOf(name).answer({ ...says, ...more }[name] ?? honest(name))
    }
    say({})
    const begun = new Map(names.map((name) => [name, serverOf(name).asked.length]))
    return {
      ...fixture,
      say,
      askedOf: (name: PriceProvider) => serverOf(name).asked.length - (begun.get(name) ?? 0),
      lastUrlOf: (name: PriceProvider) => serverOf(name).asked.at(-1)?.url,
      crypto: openEndpoint(crypto, fixture.deps),
      stock: openEndpoint(stock, fixture.deps),
    }
  }
}

const job = { signal: new AbortController().signal, requestId: 'request_1', payer: 'wallet', payment: 'payment' }

export function orderOf(endpoint: Endpoint, order: Readonly<Record<string, string>>) {
  const read: ReadParameters = endpoint.read(order)
  assert(read.ok, `${JSON.stringify(order)} is legal`)
  return read
}

export const buySymbol = (endpoint: Endpoint, symbol: string) => orderOf(endpoint, { symbol }).deliver(job)

export const buyOrder = (endpoint: Endpoint, order: Readonly<Record<string, string>>) =>
  orderOf(endpoint, order).deliver(job)

export const down = text('down', { status: 503, headers: { 'retry-after': '1' } })
