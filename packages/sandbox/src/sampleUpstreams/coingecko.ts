import { isoTime } from '@tollbook/core/clock'
import { barsOf, type Coin, coins, figuresOf } from './coins.ts'
import { currencies } from './currencies.ts'
import { rounded } from './drift.ts'
import { json, listOf, type SampleProvider } from './sampleProvider.ts'

/** `/coins/markets`, `/coins/list`, `/coins/{id}/ohlc` and `/exchange_rates`. Unknown coins are omitted, with status 200. */
export const coingecko: SampleProvider = ({ path, query, nowMs }) => {
  const [, historyId] = /^\/api\/v3\/coins\/([^/]+)\/ohlc$/.exec(path) ?? []
  if (historyId !== undefined) return historyOf(historyId, query, nowMs)
  switch (path) {
    case '/api/v3/coins/markets':
      if (query.get('vs_currency') !== 'usd') return json({ error: 'invalid vs_currency' }, 400)
      return json(chosen(query).map((coin) => marketOf(coin, nowMs)))
    case '/api/v3/coins/list':
      return json(coins.map(({ id, symbol, name }) => ({ id, symbol: symbol.toLowerCase(), name })))
    case '/api/v3/exchange_rates':
      return json({ rates: ratesOf(nowMs) })
    default:
      return json({ error: 'Not Found' }, 404)
  }
}

const hourMs = 60 * 60 * 1000

/** Returns bars, each with the time of its end. Omits bars that have not ended. */
function historyOf(id: string, query: URLSearchParams, nowMs: number) {
  const coin = coins.find((one) => one.id === id)
  const days = Number(query.get('days'))
  if (coin === undefined) return json({ error: 'coin not found' }, 404)
  if (![1, 7, 30].includes(days) || query.get('vs_currency') !== 'usd') return json({ error: 'invalid days' }, 422)
  const intervalMs = days === 1 ? hourMs / 2 : 4 * hourMs
  const bars = barsOf(coin, nowMs - (nowMs % intervalMs), { intervalMs, count: (days * 24 * hourMs) / intervalMs })
  return json(bars.map(({ startMs, open, high, low, close }) => [startMs + intervalMs, open, high, low, close]))
}

/** The price of a bitcoin in each currency. */
function ratesOf(nowMs: number) {
  const [bitcoin] = coins
  const dollars = bitcoin === undefined ? 0 : figuresOf(bitcoin, nowMs).price
  const fiat = currencies.map(({ code, name, unit, perUsd }): [string, object] => [
    code.toLowerCase(),
    { name, unit, value: rounded(dollars * perUsd, 3), type: 'fiat' },
  ])
  return { btc: { name: 'Bitcoin', unit: 'BTC', value: 1, type: 'crypto' }, ...Object.fromEntries(fiat) }
}

/**
 * Selects coins by ids or by symbols. Of coins with one symbol it returns only the first, unless the query requests
 * all.
 */
function chosen(query: URLSearchParams): readonly Coin[] {
  const [ids, symbols] = [listOf(query, 'ids'), listOf(query, 'symbols')]
  if (ids.length > 0) return coins.filter(({ id }) => ids.includes(id))
  if (symbols.length === 0) return coins
  const namesakes = coins.filter(({ symbol }) => symbols.includes(symbol.toLowerCase()))
  if (query.get('include_tokens') === 'all') return namesakes
  return namesakes.filter((coin) => coin === namesakes.find(({ symbol }) => symbol === coin.symbol))
}

function marketOf(coin: Coin, nowMs: number) {
  const { price, dayAgo, high, low, changePercent, marketCap, volumeUsd } = figuresOf(coin, nowMs)
  return {
    id: coin.id,
    symbol: coin.symbol.toLowerCase(),
    name: coin.name,
    image: `https://example.com/sample/${coin.id}.png`,
    current_price: price,
    market_cap: marketCap,
    market_cap_rank: coin.rank,
    fully_diluted_valuation: Math.round(price * (coin.supplyMax ?? coin.supply)),
    total_volume: volumeUsd,
    high_24h: high,
    low_24h: low,
    price_change_24h: price - dayAgo,
    price_change_percentage_24h: changePercent,
    market_cap_change_24h: Math.round((price - dayAgo) * coin.supply),
    market_cap_change_percentage_24h: changePercent,
    circulating_supply: coin.supply,
    total_supply: coin.supply,
    max_supply: coin.supplyMax,
    ath: coin.priceUsd * 1.6,
    ath_change_percentage: rounded((price / (coin.priceUsd * 1.6) - 1) * 100, 5),
    ath_date: '2025-10-06T18:57:42.558Z',
    atl: coin.priceUsd / 1_000,
    atl_change_percentage: rounded((price / (coin.priceUsd / 1_000) - 1) * 100, 5),
    atl_date: '2013-07-06T00:00:00.000Z',
    roi: null,
    last_updated: isoTime(nowMs - sinceUpdateMs),
  }
}

const sinceUpdateMs = 20_000
