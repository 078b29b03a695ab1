import { barsOf, type Coin, coins, figuresOf } from '../coins.ts'
import { type Currency, currencies } from '../currencies.ts'
import { json, type SampleProvider } from '../sampleProvider.ts'

/** Like Kraken, reports errors with status 200, and the key of a pair in the answer may differ from the requested pair. */
export const kraken: SampleProvider = ({ path, query, nowMs }) => {
  const pairs = (query.get('pair') ?? '').split(',')
  if (path === '/0/public/OHLC') return historyOf(pairs[0] ?? '', query, nowMs)
  const found = pairs.flatMap((pair): [string, object][] => {
    const coin = coins.find((one) => one.pair === pair)
    const currency = currencies.find((one) => one.pair === pair)
    if (coin !== undefined) return [[coin.key, tickerOf(coin, nowMs)]]
    return currency === undefined ? [] : [[currency.key, rateOf(currency)]]
  })
  if (found.length < pairs.length) return json(unknownPair)
  return json({ error: [], result: Object.fromEntries(found) })
}

const unknownPair = { error: ['EQuery:Unknown asset pair'] }
const dayMs = 24 * 60 * 60 * 1000
const decimals = 8

/** The last bar has not ended yet. */
function historyOf(pair: string, query: URLSearchParams, nowMs: number) {
  const coin = coins.find((one) => one.pair === pair)
  if (coin === undefined) return json(unknownPair)
  const intervalMs = Number(query.get('interval')) * 60_000
  const lastMs = nowMs - (nowMs % intervalMs)
  const count = Math.floor((lastMs - Number(query.get('since')) * 1_000) / intervalMs)
  const volume = ((coin.volumeUsd / coin.priceUsd) * intervalMs) / dayMs
  const bars = [
    ...barsOf(coin, lastMs, { intervalMs, count }),
    ...barsOf(coin, nowMs, { intervalMs: nowMs - lastMs, count: 1 }),
  ]
  const rows = bars.map(({ startMs, open, high, low, close }) => [
    startMs / 1_000,
    ...[open, high, low, close, (high + low) / 2, volume].map((figure) => figure.toFixed(decimals)),
    100,
  ])
  return json({ error: [], result: { [coin.key]: rows, last: (lastMs - intervalMs) / 1_000 } })
}

/** The dollar is the first or the second currency of the pair. */
function rateOf({ code, perUsd, pair }: Currency) {
  const price = (pair.startsWith(code) ? 1 / perUsd : perUsd).toFixed(5)
  return { a: [price, '1000', '1000.000'], b: [price, '1000', '1000.000'] }
}

function tickerOf(coin: Coin, nowMs: number) {
  return { c: [figuresOf(coin, nowMs).price.toFixed(decimals), '0.01000000'] }
}
