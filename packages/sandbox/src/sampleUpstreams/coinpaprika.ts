import { isoTime } from '@tollbook/core/clock'
import { type Coin, coins, figuresOf } from './coins.ts'
import { rounded } from './drift.ts'
import { json, type SampleProvider } from './sampleProvider.ts'

/** Answers `/tickers/{id}`. */
export const coinpaprika: SampleProvider = ({ path, nowMs }) => {
  const [, id] = /^\/v1\/tickers\/([^/]+)$/.exec(path) ?? []
  const coin = coins.find(({ paprikaId }) => paprikaId === id)
  return coin === undefined ? json({ error: 'id not found' }, 404) : json(tickerOf(coin, nowMs))
}

function tickerOf(coin: Coin, nowMs: number) {
  const { price, changePercent, marketCap, volumeUsd } = figuresOf(coin, nowMs)
  return {
    id: coin.paprikaId,
    name: coin.name,
    symbol: coin.symbol,
    rank: coin.rank ?? 0,
    total_supply: coin.supply,
    max_supply: coin.supplyMax ?? 0,
    beta_value: 1,
    first_data_at: '2010-07-17T00:00:00Z',
    last_updated: `${isoTime(nowMs - sinceUpdateMs).slice(0, 19)}Z`,
    quotes: {
      USD: {
        price,
        volume_24h: volumeUsd,
        volume_24h_change_24h: 0,
        market_cap: marketCap,
        market_cap_change_24h: rounded(changePercent, 2),
        percent_change_15m: 0,
        percent_change_30m: 0,
        percent_change_1h: 0,
        percent_change_6h: 0,
        percent_change_12h: 0,
        percent_change_24h: rounded(changePercent, 2),
        percent_change_7d: 0,
        percent_change_30d: 0,
        percent_change_1y: 0,
        ath_price: coin.priceUsd * 1.6,
        ath_date: '2025-10-06T18:55:00Z',
        percent_from_price_ath: rounded((price / (coin.priceUsd * 1.6) - 1) * 100, 2),
      },
    },
  }
}

const sinceUpdateMs = 60_000
