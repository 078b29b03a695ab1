import { assert } from '@tollbook/core/assert'
import { crypto } from '../../src/products/crypto/crypto.ts'
import type { Endpoint, ReadParameters } from '../../src/product/endpoint.ts'
import { openEndpoint } from '../../src/product/productDefinition.ts'
import { stock } from '../../src/products/stock/stock.ts'
import { type Answering, type LoopbackProvider, startLoopbackProvider, text } from './loopbackProvider.ts'
import { holdTimeLimits } from './holdTimeLimits.ts'
import { openProviderFixture } from './providerFixture.ts'
import { sampleAnswer, sampleTimeMs } from './upstreamSample.ts'

/** The providers of prices, each with its own loopback server and the sample that it serves by default. */
const samples = {
  COINGECKO: 'coingecko/markets-btc',
  COINPAPRIKA: 'coinpaprika/ticker-btc',
  KRAKEN: 'kraken/ticker-xbtusd',
  TWELVE_DATA: 'twelvedata/quote-aapl',
  EODHD: 'eodhd/real-time-aapl',
  YAHOO: 'yahoo/chart-aapl-1d',
} as const
export type PriceProvider = keyof typeof samples
const names = [
  'COINGECKO',
  'COINPAPRIKA',
  'KRAKEN',
  'TWELVE_DATA',
  'EODHD',
  'YAHOO',
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
  TWELVE_DATA: (asked) => (asked.pathname === '/quote' ? undefined : 'twelvedata/time-series-aapl-5d'),
  EODHD: (asked) => (asked.pathname.includes('/technical/') ? 'eodhd/splitadjusted-aapl-5d' : undefined),
  YAHOO: (asked) => (asked.searchParams.get('range') === '1d' ? undefined : 'yahoo/chart-aapl-5d'),
}

export function honest(name: PriceProvider): Answering {
  return (response, asked) => sampleAnswer(others[name]?.(asked.url) ?? samples[name])(response, asked)
}

export type Sayings = Partial<Record<PriceProvider, Answering>>

export interface PriceStageOptions {
  readonly says?: Sayings
  /** The providers of stocks that have a key. Default: Twelve Data, which is asked with Yahoo then. */
  readonly keys?: readonly PriceProvider[]
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
  return ({ says = {}, keys = ['TWELVE_DATA'], timeMs = sampleTimeMs }: PriceStageOptions = {}) => {
    const settings = names.map((name) => [
      name,
      { url: serverOf(name).url, apiKey: keys.includes(name) ? 'k' : undefined },
    ])
    const fixture = openProviderFixture(Object.fromEntries(settings), timeMs)
    const clock = holdTimeLimits(fixture.clock)
    const say = (more: Sayings) => {
      for (const name of names) serverOf(name).answer({ ...says, ...more }[name] ?? honest(name))
    }
    say({})
    const begun = new Map(names.map((name) => [name, serverOf(name).asked.length]))
    return {
      ...fixture,
      clock,
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
