import { createLastKnown } from '../../sourcing/agreement/lastKnown.ts'
import { cryptoAnswer, type CryptoData, type CryptoOrder, cryptoParameters, isCoinGeckoId } from './cryptoParameters.ts'
import { cryptoHistoryRule, nothingKnown } from '../../sourcing/history/historyAgreement.ts'
import { type PriceHistory, type SoldPrice, withHistory } from '../../sourcing/history/priceHistory.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { coinOf, coinOfId } from './providers/coin.ts'
import { createCoinGecko } from './providers/coinGecko.ts'
import { createCoinGeckoHistory } from './providers/coinGeckoHistory.ts'
import { createCoinGeckoRates } from './providers/coinGeckoRates.ts'
import { openCoinGecko } from './providers/coinGeckoUpstream.ts'
import { openCoinList } from './providers/coinList.ts'
import { createCoinPaprika } from './providers/coinPaprika.ts'
import type { CryptoHistoryQuery } from './providers/cryptoHistory.ts'
import { cryptoAgreement, type CryptoPrice, type CryptoQuery } from './providers/cryptoPrice.ts'
import { type ExchangeRates, ratesAgreement, type RatesQuery } from './providers/exchangeRate.ts'
import { createKraken } from './providers/kraken.ts'
import { createKrakenHistory, createKrakenRates, openKrakenTables } from './providers/krakenTables.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { createSource } from '../../sourcing/source.ts'
import { type AnsweredQuery, splitSymbols, symbolHandler } from '../../sourcing/symbolHandler.ts'
import { withCurrency } from './withCurrency.ts'

export const crypto = defineProduct({
  path: '/api/data/crypto',
  method: 'GET',
  summary: 'Price of a cryptocurrency',
  priceMicroUsd: 20_000n,
  parameters: cryptoParameters,
  answer: cryptoAnswer,
  example: {
    order: { symbol: 'BTC' },
    answer: {
      symbol: 'BTC',
      price: 84_213.5,
      change24h: '+1.42%',
      volume24h: 31_250_000_000,
      marketCap: 1_672_000_000_000,
    },
  },
  providers: ['COINGECKO', 'COINPAPRIKA', 'KRAKEN'],
  demo: { order: () => ({ symbol: 'SOL' }), check: checkDemo },
  open: openCrypto,
})

const minute = 60_000
const hour = 60 * minute
const freshMs = minute
const staleMs = 10 * minute
// CoinGecko's prices are one to two minutes old, and CoinPaprika's prices are up to ten minutes old. Refuse a price
// that is older than 30 minutes.
const ageMaxMs = 30 * minute
const lastKnownMs = 2 * hour
const hint = 'only coins that are ranked by market capitalisation are sold, by their ticker'

function openCrypto(deps: ProviderDeps): ProductHandler<CryptoOrder> {
  const coinGecko = openCoinGecko(deps)
  const krakenTables = openKrakenTables(deps)
  const coins = openCoins(deps, createCoinGecko(deps, coinGecko))
  // Do not probe these sources, because the price source already probes CoinGecko.
  const unprobed = { ...deps, isProbed: false }
  const history = createSource<CryptoHistoryQuery, PriceHistory>(unprobed, {
    what: 'the history of a cryptocurrency price',
    providers: [createKrakenHistory(krakenTables, deps.clock), createCoinGeckoHistory(coinGecko, deps.clock)],
    keyOf: historyKeyOf,
    isListed: ({ coin }) => coin !== undefined,
    known: [historyOf('1d', queryOf('BTC'), undefined)],
    freshMs,
    staleMs: 0,
    ageMaxMs: 6 * hour,
    agreement: { ...cryptoHistoryRule, keyOf: historyKeyOf, lastKnown: nothingKnown },
  })
  const rates = createSource<RatesQuery, ExchangeRates>(unprobed, {
    what: 'exchange rates',
    providers: [createKrakenRates(krakenTables, deps.clock), createCoinGeckoRates(coinGecko, deps.clock)],
    keyOf: () => 'rates',
    isListed: () => true,
    known: [{}],
    freshMs: 10 * minute,
    staleMs: hour,
    ageMaxMs: 10 * minute,
    agreement: { ...ratesAgreement, keyOf: () => 'rates', lastKnown: createLastKnown(deps.clock, 24 * hour) },
  })
  return withCurrency(withHistory(coins, { source: history, queryOf: historyQueryOf }), rates)
}

function openCoins(deps: ProviderDeps, coinGecko: ReturnType<typeof createCoinGecko>): ProductHandler<CryptoOrder> {
  const source = createSource<CryptoQuery, CryptoPrice>(deps, {
    what: 'a cryptocurrency price',
    providers: [coinGecko, createCoinPaprika(deps)],
    keyOf: coinKeyOf,
    isListed: ({ coin }) => coin !== undefined,
    known: [queryOf('BTC')],
    freshMs,
    staleMs,
    ageMaxMs,
    agreement: {
      ...cryptoAgreement,
      keyOf: coinKeyOf,
      lastKnown: createLastKnown(deps.clock, lastKnownMs),
      witnesses: [createKraken(deps)],
    },
    hint,
  })
  const handler = symbolHandler<CryptoOrder, CryptoQuery, CryptoPrice>({ source, queriesOf, dataOf, hint })
  const list = openCoinList(deps)
  return {
    ...handler,
    whyNoData(order) {
      const unknown = queriesOf(order).find((query) => !list.mayHave(query))
      return unknown === undefined ? handler.whyNoData?.(order) : `no coin is called ${unknown.symbol}; ${hint}`
    },
  }
}

function historyKeyOf(query: CryptoHistoryQuery): string {
  return `${query.coinGeckoId ?? coinKeyOf(query)} ${query.range}`
}

/** Returns the key of a coin. A key by id contains a colon, which no symbol contains, so the two kinds never collide. */
function coinKeyOf({ symbol, coin, id }: CryptoQuery): string {
  return coin?.symbol ?? (id === undefined ? symbol : `id:${id}`)
}

function queriesOf({ symbol: first, coinId: id, more }: CryptoOrder): readonly [CryptoQuery, ...CryptoQuery[]] {
  const others = splitSymbols(more).map(queryOf)
  return id === undefined ? [queryOf(first ?? ''), ...others] : [queryOfId(id), ...others]
}

function queryOf(requested: string): CryptoQuery {
  const ticker = requested.toUpperCase()
  return { symbol: ticker, coin: coinOf(ticker) }
}

/**
 * Returns the query for an id. Uses the symbol of a listed coin, so that queries by id and by symbol share one cached
 * answer.
 */
function queryOfId(id: string): CryptoQuery {
  const coin = coinOfId(id)
  return coin === undefined ? { symbol: id, coin, id } : { symbol: coin.symbol, coin }
}

function historyQueryOf(order: CryptoOrder, sold: SoldPrice | undefined): CryptoHistoryQuery | undefined {
  return order.history === undefined ? undefined : historyOf(order.history, queriesOf(order)[0], sold)
}

/**
 * Returns the query for a history. For a coin outside our list, CoinGecko's id comes from the sold price, because only
 * CoinGecko sells such coins.
 */
function historyOf(range: CryptoHistoryQuery['range'], query: CryptoQuery, sold: SoldPrice | undefined) {
  const soldId = sold?.meta['id']
  const unlistedId = query.id ?? (typeof soldId === 'string' && isCoinGeckoId(soldId) ? soldId : undefined)
  return { ...query, range, coinGeckoId: query.coin?.coingecko ?? unlistedId, price: sold?.price }
}

/**
 * Returns the sold data. Keeps a requested symbol, in capitals: XBT stays XBT, although BTC was fetched. For an id,
 * uses the symbol in the answer.
 */
function dataOf({ details: isDetailed }: CryptoOrder, { query, found }: AnsweredQuery<CryptoQuery, CryptoPrice>) {
  const { symbol: answered, ...figures } = found.data
  return {
    symbol: query.id === undefined ? query.symbol : answered,
    ...figures,
    ...(isDetailed === true ? { details: found.details } : {}),
  }
}

function checkDemo(
  { symbol: answered, price, change24h, volume24h, marketCap }: CryptoData,
  { expect }: DemoCaller,
): string {
  expect(answered === 'SOL', `the answer is about SOL, not ${answered}`)
  expect(price > 0 && volume24h > 0, 'price and volume are positive')
  expect(marketCap > volume24h / 10 && marketCap > price, 'a market is worth more than one coin')
  const millions = Math.round(marketCap / 1e6).toLocaleString('en-US')
  return `${answered} at $${price}, ${change24h} in 24 hours; market cap $${millions} million`
}
