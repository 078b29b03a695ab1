import { isoTime } from '@tollbook/core/clock'
import { barsOf, type Coin, coins, figuresOf } from '../coins.ts'
import { currencies } from '../currencies.ts'
import { rounded } from '../drift.ts'
import { json, listOf, type SampleProvider } from '../sampleProvider.ts'

/** Omits unknown coins from a list, as CoinGecko does. */
export const coingecko: SampleProvider = ({ path, query, nowMs }) => {
  const [, historyId] = /^\/api\/v3\/coins\/([^/]+)\/ohlc$/.exec(path) ?? []
  if (historyId !== undefined) return historyOf(historyId, Number(query.get('days')), nowMs)
  switch (path) {
    case '/api/v3/coins/markets':
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

/** Each bar has the time of its end. A bar that has not ended is omitted. */
function historyOf(id: string, days: number, nowMs: number) {
  const coin = coins.find((one) => one.id === id)
  if (coin === undefined) return json({ error: 'coin not found' }, 404)
  const intervalMs = days === 1 ? hourMs / 2 : 4 * hourMs
  const bars = barsOf(coin, nowMs - (nowMs % intervalMs), { intervalMs, count: (days * 24 * hourMs) / intervalMs })
  return json(bars.map(({ startMs, open, high, low, close }) => [startMs + intervalMs, open, high, low, close]))
}

function ratesOf(nowMs: number) {
  const [bitcoin] = coins
  const dollars = bitcoin === undefined ? 0 : figuresOf(bitcoin, nowMs).price
  const rateOf = (perUsd: number) => ({ value: rounded(dollars * perUsd, 3), type: 'fiat' })
  return Object.fromEntries([
    ['usd', rateOf(1)],
    ...currencies.map(({ code, perUsd }) => [code.toLowerCase(), rateOf(perUsd)]),
  ])
}

/** Returns the coins with a requested id or symbol. Several coins may have the same symbol. */
function chosen(query: URLSearchParams): readonly Coin[] {
  const [ids, symbols] = [listOf(query, 'ids'), listOf(query, 'symbols')]
  return coins.filter(({ id, symbol }) => ids.includes(id) || symbols.includes(symbol.toLowerCase()))
}

const sinceUpdateMs = 20_000

function marketOf(coin: Coin, nowMs: number) {
  const { price, dayAgo, high, low, changePercent, marketCap } = figuresOf(coin, nowMs)
  return {
    id: coin.id,
    symbol: coin.symbol.toLowerCase(),
    name: coin.name,
    current_price: price,
    market_cap: marketCap,
    market_cap_rank: coin.rank,
    total_volume: coin.volumeUsd,
    high_24h: high,
    low_24h: low,
    price_change_24h: price - dayAgo,
    price_change_percentage_24h: changePercent,
    circulating_supply: coin.supply,
    last_updated: isoTime(nowMs - sinceUpdateMs),
  }
}
