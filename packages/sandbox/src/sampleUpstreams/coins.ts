import { drift, rounded, sixDigits } from './drift.ts'

/** A sample coin under the names that the four providers have for it. The figures are invented. */
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
  readonly coinbase?: string
  readonly kraken?: { readonly pair: string; readonly key: string }
}

export const coins: readonly Coin[] = [
  {
    id: 'bitcoin',
    paprikaId: 'btc-bitcoin',
    symbol: 'BTC',
    name: 'Bitcoin',
    rank: 1,
    priceUsd: 80_000,
    supply: 20_000_000,
    supplyMax: 21_000_000,
    volumeUsd: 30e9,
    swing: 0.03,
    coinbase: 'BTC-USD',
    kraken: { pair: 'XBTUSD', key: 'XXBTZUSD' },
  },
  {
    id: 'ethereum',
    paprikaId: 'eth-ethereum',
    symbol: 'ETH',
    name: 'Ethereum',
    rank: 2,
    priceUsd: 3_000,
    supply: 120_700_000,
    supplyMax: null,
    volumeUsd: 16e9,
    swing: 0.04,
    coinbase: 'ETH-USD',
    kraken: { pair: 'ETHUSD', key: 'XETHZUSD' },
  },
  {
    id: 'solana',
    paprikaId: 'sol-solana',
    symbol: 'SOL',
    name: 'Solana',
    rank: 6,
    priceUsd: 150,
    supply: 560_000_000,
    supplyMax: null,
    volumeUsd: 4.2e9,
    swing: 0.05,
    coinbase: 'SOL-USD',
    kraken: { pair: 'SOLUSD', key: 'SOLUSD' },
  },
  {
    id: 'usd-coin',
    paprikaId: 'usdc-usdc',
    symbol: 'USDC',
    name: 'USDC',
    rank: 7,
    priceUsd: 1,
    supply: 75_000_000_000,
    supplyMax: null,
    volumeUsd: 9e9,
    swing: 0.0004,
    kraken: { pair: 'USDCUSD', key: 'USDCUSD' },
  },
  {
    id: 'ripple',
    paprikaId: 'xrp-xrp',
    symbol: 'XRP',
    name: 'XRP',
    rank: 5,
    priceUsd: 2,
    supply: 60_000_000_000,
    supplyMax: 100_000_000_000,
    volumeUsd: 3e9,
    swing: 0.04,
    coinbase: 'XRP-USD',
    kraken: { pair: 'XRPUSD', key: 'XXRPZUSD' },
  },
  {
    id: 'dogecoin',
    paprikaId: 'doge-dogecoin',
    symbol: 'DOGE',
    name: 'Dogecoin',
    rank: 9,
    priceUsd: 0.16,
    supply: 152_000_000_000,
    supplyMax: null,
    volumeUsd: 1.4e9,
    swing: 0.06,
    coinbase: 'DOGE-USD',
    kraken: { pair: 'XDGUSD', key: 'XDGUSD' },
  },
  {
    id: 'litecoin',
    paprikaId: 'ltc-litecoin',
    symbol: 'LTC',
    name: 'Litecoin',
    rank: 24,
    priceUsd: 95,
    supply: 76_600_000,
    supplyMax: 84_000_000,
    volumeUsd: 4e8,
    swing: 0.04,
    coinbase: 'LTC-USD',
    kraken: { pair: 'LTCUSD', key: 'XLTCZUSD' },
  },
  {
    id: 'uniswap',
    paprikaId: 'uni-uniswap',
    symbol: 'UNI',
    name: 'Uniswap',
    rank: 38,
    priceUsd: 7.5,
    supply: 630_000_000,
    supplyMax: 1_000_000_000,
    volumeUsd: 2e8,
    swing: 0.05,
    coinbase: 'UNI-USD',
    kraken: { pair: 'UNIUSD', key: 'UNIUSD' },
  },
  // An invented coin: it shows the answer for two coins of one symbol.
  {
    id: 'sample-unicorn',
    paprikaId: 'uni-sample-unicorn',
    symbol: 'UNI',
    name: 'Sample Unicorn',
    rank: null,
    priceUsd: 0.000_012,
    supply: 1_000_000_000,
    supplyMax: null,
    volumeUsd: 900,
    swing: 0.2,
  },
]

/** Open, high, low and close of the bars that end at `endMs` and before, oldest first. */
export function barsOf(coin: Coin, endMs: number, { intervalMs, count }: { intervalMs: number; count: number }) {
  return Array.from({ length: count }, (_, at) => {
    const barEndMs = endMs - (count - 1 - at) * intervalMs
    const prices = [0, 1, 2, 3].map((quarter) => priceOf(coin, barEndMs - ((3 - quarter) * intervalMs) / 3))
    const [open = 0, , , close = 0] = prices
    return { startMs: barEndMs - intervalMs, open, high: Math.max(...prices), low: Math.min(...prices), close }
  })
}

/** Bars since a time as an exchange has them, oldest first: the last one has not ended. */
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
