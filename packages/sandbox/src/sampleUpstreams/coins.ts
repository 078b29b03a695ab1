import { drift, rounded } from './drift.ts'

/** The three providers have different names for a coin. The figures are invented. */
export interface Coin {
  readonly id: string
  readonly paprikaId: string
  readonly symbol: string
  readonly name: string
  /** Null for an unranked coin. */
  readonly rank: number | null
  readonly priceUsd: number
  readonly supply: number
  readonly volumeUsd: number
  /** Maximum deviation of the price from `priceUsd`, as a fraction. */
  readonly swing: number
  /** Kraken's name of the pair with the dollar. `key` is the name of the pair in Kraken's answer. */
  readonly pair: string
  readonly key: string
}

type Names = readonly [id: string, paprikaId: string, symbol: string, name: string, pair: string, key: string]
type Figures = readonly [rank: number | null, priceUsd: number, supply: number, volumeUsd: number, swing: number]

const rows: readonly (readonly [...Names, ...Figures])[] = [
  ['bitcoin', 'btc-bitcoin', 'BTC', 'Bitcoin', 'XBTUSD', 'XXBTZUSD', 1, 80_000, 20e6, 30e9, 0.03],
  ['ethereum', 'eth-ethereum', 'ETH', 'Ethereum', 'ETHUSD', 'XETHZUSD', 2, 3_000, 120.7e6, 16e9, 0.04],
  ['ripple', 'xrp-xrp', 'XRP', 'XRP', 'XRPUSD', 'XXRPZUSD', 5, 2, 60e9, 3e9, 0.04],
  ['solana', 'sol-solana', 'SOL', 'Solana', 'SOLUSD', 'SOLUSD', 6, 150, 560e6, 4.2e9, 0.05],
  ['usd-coin', 'usdc-usdc', 'USDC', 'USDC', 'USDCUSD', 'USDCUSD', 7, 1, 75e9, 9e9, 0.0004],
  ['dogecoin', 'doge-dogecoin', 'DOGE', 'Dogecoin', 'XDGUSD', 'XDGUSD', 9, 0.16, 152e9, 1.4e9, 0.06],
  ['litecoin', 'ltc-litecoin', 'LTC', 'Litecoin', 'LTCUSD', 'XLTCZUSD', 24, 95, 76.6e6, 4e8, 0.04],
  ['uniswap', 'uni-uniswap', 'UNI', 'Uniswap', 'UNIUSD', 'UNIUSD', 38, 7.5, 630e6, 2e8, 0.05],
  // An invented coin, so that an answer about two coins with the same symbol can be tested.
  ['sample-unicorn', 'uni-sample-unicorn', 'UNI', 'Sample Unicorn', '', '', null, 0.000_012, 1e9, 900, 0.2],
]

export const coins = rows.map(
  ([id, paprikaId, symbol, name, pair, key, rank, priceUsd, supply, volumeUsd, swing]): Coin => {
    return { id, paprikaId, symbol, name, rank, priceUsd, supply, volumeUsd, swing, pair, key }
  },
)

/** Returns the oldest bar first. */
export function barsOf(coin: Coin, endMs: number, { intervalMs, count }: { intervalMs: number; count: number }) {
  return Array.from({ length: count }, (_, at) => {
    const barEndMs = endMs - (count - 1 - at) * intervalMs
    const [open, close] = [priceOf(coin, barEndMs - intervalMs), priceOf(coin, barEndMs)]
    return { startMs: barEndMs - intervalMs, open, high: Math.max(open, close), low: Math.min(open, close), close }
  })
}

const dayMs = 24 * 60 * 60 * 1000

export function figuresOf(coin: Coin, nowMs: number) {
  const [price, dayAgo] = [priceOf(coin, nowMs), priceOf(coin, nowMs - dayMs)]
  return {
    price,
    dayAgo,
    high: Math.max(price, dayAgo),
    low: Math.min(price, dayAgo),
    changePercent: rounded((price / dayAgo - 1) * 100, 5),
    marketCap: Math.round(price * coin.supply),
  }
}

/** Six significant digits suit large and small prices. */
function priceOf({ symbol, id, priceUsd, swing }: Coin, atMs: number): number {
  return Number((priceUsd * (1 + swing * drift(`${symbol} ${id}`, atMs))).toPrecision(6))
}
