import { isoTime } from '@tollbook/core/clock'
import { coins, figuresOf } from './coins.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/** Coinbase Exchange: `/products/{id}/ticker` and `/stats`. Every figure is a text, and the volume is in coins. */
export const coinbase: SampleProvider = ({ path, nowMs }) => {
  const [, product, what] = /^\/products\/([^/]+)\/(ticker|stats)$/.exec(path) ?? []
  const coin = coins.find((one) => one.coinbase !== undefined && one.coinbase === product)
  if (coin === undefined) return json({ message: 'NotFound' }, 404)
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
