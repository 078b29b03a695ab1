import { isoTime } from '@tollbook/core/clock'
import { type Coin, coins, figuresOf, runningBarsOf } from './coins.ts'
import { rounded } from './drift.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/** Coinbase Exchange: `/products/{id}/ticker`, `/stats` and `/candles`. Every figure but those of candles is a text; volumes are in coins. */
export const coinbase: SampleProvider = ({ path, query, nowMs }) => {
  const [, product, what] = /^\/products\/([^/]+)\/(ticker|stats|candles)$/.exec(path) ?? []
  const coin = coins.find((one) => one.coinbase !== undefined && one.coinbase === product)
  if (coin === undefined) return json({ message: 'NotFound' }, 404)
  if (what === 'candles') return candlesOf(coin, query, nowMs)
  const { price, dayAgo, high, low, volumeCoins } = figuresOf(coin, nowMs)
  if (what === 'stats') {
    return json({
      open: `${dayAgo}`,
      high: `${high}`,
      low: `${low}`,
      last: `${price}`,
      volume: `${volumeCoins}`,
      volume_30day: `${volumeCoins * 30}`,
    })
  }
  return json({
    ask: `${price}`,
    bid: `${price}`,
    volume: `${volumeCoins}`,
    trade_id: Math.floor(nowMs / 1000),
    price: `${price}`,
    size: '0.01',
    // Microseconds, as it has them.
    time: isoTime(nowMs).replace('Z', '000Z'),
    rfq_volume: '0',
  })
}

const candlesMax = 300
const dayMs = 24 * 60 * 60 * 1000

/** Newest first; the first one has not ended. */
function candlesOf(coin: Coin, query: URLSearchParams, nowMs: number) {
  const intervalMs = Number(query.get('granularity') ?? '60') * 1000
  const startMs = Date.parse(query.get('start') ?? '')
  const bars = runningBarsOf(coin, nowMs, { intervalMs, sinceMs: Number.isNaN(startMs) ? 0 : startMs })
  if (bars.length > candlesMax) return json({ message: 'granularity too small for the requested time range' }, 400)
  const volume = rounded((figuresOf(coin, nowMs).volumeCoins * intervalMs) / dayMs, 8)
  return json(bars.toReversed().map((bar) => [bar.startMs / 1000, bar.low, bar.high, bar.open, bar.close, volume]))
}
