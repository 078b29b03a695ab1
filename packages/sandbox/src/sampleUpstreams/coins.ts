import { drift, rounded, sixDigits } from './drift.ts'

/** A sample coin with its names at the three providers. The figures are invented. */
export interface Coin {
  readonly id: string
  readonly paprikaId: string
  readonly symbol: string
  readonly name: string
  /** Null for an unranked coin. */
  readonly rank: number | null
  readonly priceUsd: number
  readonly supply: number
  readonly supplyMax: number | null
  readonly volumeUsd: number
  /** Maximum deviation of the price from its centre. */
  readonly swing: number
  readonly kraken?: { readonly pair: string; readonly key: string }
}

type Names = readonly [id: string, paprikaId: string, symbol: string, name: string]
type Figures = readonly [rank: number | null, priceUsd: number, supply: number, supplyMax: number | null]
type Trade = readonly [volumeUsd: number, swing: number, pair?: string, key?: string]

const rows: readonly (readonly [...Names, ...Figures, ...Trade])[] = [
  ['bitcoin', 'btc-bitcoin', 'BTC', 'Bitcoin', 1, 80_000, 20e6, 21e6, 30e9, 0.03, 'XBTUSD', 'XXBTZUSD'],
  ['ethereum', 'eth-ethereum', 'ETH', 'Ethereum', 2, 3_000, 120.7e6, null, 16e9, 0.04, 'ETHUSD', 'XETHZUSD'],
  ['ripple', 'xrp-xrp', 'XRP', 'XRP', 5, 2, 60e9, 100e9, 3e9, 0.04, 'XRPUSD', 'XXRPZUSD'],
  ['solana', 'sol-solana', 'SOL', 'Solana', 6, 150, 560e6, null, 4.2e9, 0.05, 'SOLUSD', 'SOLUSD'],
  ['usd-coin', 'usdc-usdc', 'USDC', 'USDC', 7, 1, 75e9, null, 9e9, 0.0004, 'USDCUSD', 'USDCUSD'],
  ['dogecoin', 'doge-dogecoin', 'DOGE', 'Dogecoin', 9, 0.16, 152e9, null, 1.4e9, 0.06, 'XDGUSD', 'XDGUSD'],
  ['litecoin', 'ltc-litecoin', 'LTC', 'Litecoin', 24, 95, 76.6e6, 84e6, 4e8, 0.04, 'LTCUSD', 'XLTCZUSD'],
  ['uniswap', 'uni-uniswap', 'UNI', 'Uniswap', 38, 7.5, 630e6, 1e9, 2e8, 0.05, 'UNIUSD', 'UNIUSD'],
  // An invented coin, so that the answer for two coins of one symbol can be seen.
  ['sample-unicorn', 'uni-sample-unicorn', 'UNI', 'Sample Unicorn', null, 0.000_012, 1e9, null, 900, 0.2],
]

export const coins = rows.map(
  ([id, paprikaId, symbol, name, rank, priceUsd, supply, supplyMax, volumeUsd, swing, pair, key]): Coin => {
    const coin = { id, paprikaId, symbol, name, rank, priceUsd, supply, supplyMax, volumeUsd, swing }
    return pair === undefined || key === undefined ? coin : { ...coin, kraken: { pair, key } }
  },
)

/** Open, high, low and close of `count` bars, oldest first. The last bar ends at `endMs`. */
export function barsOf(coin: Coin, endMs: number, { intervalMs, count }: { intervalMs: number; count: number }) {
  return Array.from({ length: count }, (_, at) => {
    const barEndMs = endMs - (count - 1 - at) * intervalMs
    const prices = [0, 1, 2, 3].map((quarter) => priceOf(coin, barEndMs - ((3 - quarter) * intervalMs) / 3))
    const [open = 0, , , close = 0] = prices
    return { startMs: barEndMs - intervalMs, open, high: Math.max(...prices), low: Math.min(...prices), close }
  })
}

/** Bars since a time, oldest first, as an exchange returns them: the last one has not ended. */
export function runningBarsOf(
  coin: Coin,
  nowMs: number,
  { intervalMs, sinceMs }: { intervalMs: number; sinceMs: number },
) {
  const lastMs = nowMs - (nowMs % intervalMs)
  const count = Math.min(barsMax, Math.floor((lastMs - sinceMs) / intervalMs) + 1)
  const ended = barsOf(coin, lastMs, { intervalMs, count: count - 1 })
  return [...ended, ...barsOf(coin, nowMs, { intervalMs: Math.max(1, nowMs - lastMs), count: 1 })]
}

const barsMax = 720

export interface CoinFigures {
  readonly price: number
  readonly dayAgo: number
  readonly high: number
  readonly low: number
  readonly changePercent: number
  readonly marketCap: number
  readonly volumeUsd: number
  readonly volumeCoins: number
}

const dayMs = 24 * 60 * 60 * 1000
const samplesPerDay = 24

export function figuresOf(coin: Coin, nowMs: number): CoinFigures {
  const hours = Array.from({ length: samplesPerDay + 1 }, (_, hour) =>
    priceOf(coin, nowMs - (hour * dayMs) / samplesPerDay),
  )
  const price = priceOf(coin, nowMs)
  const dayAgo = priceOf(coin, nowMs - dayMs)
  return {
    price,
    dayAgo,
    high: Math.max(...hours),
    low: Math.min(...hours),
    changePercent: rounded((price / dayAgo - 1) * 100, 5),
    marketCap: Math.round(price * coin.supply),
    volumeUsd: coin.volumeUsd,
    volumeCoins: rounded(coin.volumeUsd / price, 8),
  }
}

function priceOf({ symbol, id, priceUsd, swing }: Coin, atMs: number): number {
  return sixDigits(priceUsd * (1 + swing * drift(`${symbol} ${id}`, atMs)))
}
