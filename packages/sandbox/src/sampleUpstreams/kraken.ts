import { type Coin, coins, figuresOf, runningBarsOf } from './coins.ts'
import { type Currency, currencies } from './currencies.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/**
 * `/0/public/Ticker` and `/0/public/OHLC`. Kraken reports errors with status 200, and its answer has another name than
 * the requested pair.
 */
export const kraken: SampleProvider = ({ path, query, nowMs }) => {
  const pairs = (query.get('pair') ?? '').split(',')
  if (path === '/0/public/OHLC') return historyOf(pairs[0] ?? '', query, nowMs)
  if (path !== '/0/public/Ticker') return json({ error: ['EGeneral:Unknown method'] })
  const found = pairs.flatMap((pair): [string, object][] => {
    const coin = coins.find((one) => isPair(one, pair))
    const currency = currencies.find(({ kraken: names }) => names?.pair === pair || names?.key === pair)
    if (coin?.kraken !== undefined) return [[coin.kraken.key, tickerOf(coin, nowMs)]]
    return currency?.kraken === undefined ? [] : [[currency.kraken.key, rateOf(currency)]]
  })
  if (found.length < pairs.length) return json({ error: ['EQuery:Unknown asset pair'] })
  return json({ error: [], result: Object.fromEntries(found) })
}

/** Returns bars. The last bar has not ended. */
function historyOf(pair: string, query: URLSearchParams, nowMs: number) {
  const coin = coins.find((one) => isPair(one, pair))
  if (coin?.kraken === undefined) return json({ error: ['EQuery:Unknown asset pair'] })
  const intervalMs = Number(query.get('interval') ?? '1') * 60_000
  const sinceMs = Number(query.get('since') ?? '0') * 1_000
  const { volumeCoins } = figuresOf(coin, nowMs)
  const lastMs = nowMs - (nowMs % intervalMs)
  const rows = runningBarsOf(coin, nowMs, { intervalMs, sinceMs }).map(({ startMs, open, high, low, close }) => [
    startMs / 1_000,
    ...[open, high, low, close, (high + low) / 2].map((price) => price.toFixed(decimals)),
    ((volumeCoins * intervalMs) / dayMs).toFixed(8),
    100,
  ])
  return json({ error: [], result: { [coin.kraken.key]: rows, last: (lastMs - intervalMs) / 1_000 } })
}

/** Returns the rate of a pair, which has the dollar on either side. */
function rateOf({ code, perUsd, kraken: names }: Currency) {
  const price = (names?.pair.startsWith(code) === true ? 1 / perUsd : perUsd).toFixed(5)
  return {
    a: [price, '1000', '1000.000'],
    b: [price, '1000', '1000.000'],
    c: [price, '100.00000000'],
    v: ['100000.00000000', '200000.00000000'],
    p: [price, price],
    t: [1_000, 2_000],
    l: [price, price],
    h: [price, price],
    o: price,
  }
}

function isPair({ kraken: names }: Coin, pair: string): boolean {
  return names !== undefined && (names.pair === pair || names.key === pair)
}

function tickerOf(coin: Coin, nowMs: number) {
  const { price, high, low, volumeCoins } = figuresOf(coin, nowMs)
  const startOfDay = figuresOf(coin, nowMs - (nowMs % dayMs)).price
  // The volume since midnight, and that of the last 24 hours.
  const volumes = [volumeCoins * ((nowMs % dayMs) / dayMs), volumeCoins]
  return {
    a: [price.toFixed(decimals), '1', '1.000'],
    b: [price.toFixed(decimals), '1', '1.000'],
    c: [price.toFixed(decimals), '0.01000000'],
    v: volumes.map((volume) => volume.toFixed(8)),
    p: [price.toFixed(decimals), price.toFixed(decimals)],
    t: [1_000, 2_000],
    l: [low.toFixed(decimals), low.toFixed(decimals)],
    h: [high.toFixed(decimals), high.toFixed(decimals)],
    o: startOfDay.toFixed(decimals),
  }
}

const dayMs = 24 * 60 * 60 * 1000
const decimals = 8
