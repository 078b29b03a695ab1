import { isoTime } from '@tollbook/core/clock'
import { type Coin, coins, figuresOf } from '../coins.ts'
import { rounded } from '../drift.ts'
import { json, type SampleProvider } from '../sampleProvider.ts'

export const coinpaprika: SampleProvider = ({ path, nowMs }) => {
  const [, id] = /^\/v1\/tickers\/([^/]+)$/.exec(path) ?? []
  const coin = coins.find(({ paprikaId }) => paprikaId === id)
  return coin === undefined ? json({ error: 'id not found' }, 404) : json(tickerOf(coin, nowMs))
}

const sinceUpdateMs = 60_000

function tickerOf(coin: Coin, nowMs: number) {
  const { price, changePercent, marketCap } = figuresOf(coin, nowMs)
  return {
    id: coin.paprikaId,
    name: coin.name,
    symbol: coin.symbol,
    rank: coin.rank ?? 0,
    total_supply: coin.supply,
    last_updated: isoTime(nowMs - sinceUpdateMs),
    quotes: {
      USD: {
        price,
        volume_24h: coin.volumeUsd,
        market_cap: marketCap,
        percent_change_24h: rounded(changePercent, 2),
      },
    },
  }
}
