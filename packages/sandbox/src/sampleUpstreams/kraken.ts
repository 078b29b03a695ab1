import { type Coin, coins, figuresOf } from './coins.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/** `/0/public/Ticker`. It reports errors with status 200, and answers under another name than the requested one. */
export const kraken: SampleProvider = ({ path, query, nowMs }) => {
  if (path !== '/0/public/Ticker') return json({ error: ['EGeneral:Unknown method'] })
  const found = (query.get('pair') ?? '').split(',').map((pair) => coins.find((coin) => isPair(coin, pair)))
  if (!found.every((coin) => coin !== undefined)) return json({ error: ['EQuery:Unknown asset pair'] })
  return json({ error: [], result: Object.fromEntries(found.map((coin) => [coin.kraken?.key, tickerOf(coin, nowMs)])) })
}

function isPair({ kraken: names }: Coin, pair: string): boolean {
  return names !== undefined && (names.pair === pair || names.key === pair)
}

function tickerOf(coin: Coin, nowMs: number) {
  const { price, high, low, volumeCoins } = figuresOf(coin, nowMs)
  const startOfDay = figuresOf(coin, nowMs - (nowMs % dayMs)).price
  // Today since midnight, and the last 24 hours.
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
