import coinIds from './coinIds.json' with { type: 'json' }

/** A listed coin. Its symbol identifies it, even if other coins share that symbol. */
export interface Coin {
  /** Symbol that providers use: `BTC`, also if `XBT` is requested. */
  readonly symbol: string
  readonly coingecko: string
  readonly coinpaprika?: string | undefined
  /** Kraken's pair with the dollar, if any. It confirms the price and the history of the coin. */
  readonly kraken?: string | undefined
}

/** Other symbols of a coin, including those from before a one-to-one renaming. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
  ['MATIC', 'POL'],
  ['RNDR', 'RENDER'],
])

// Use a map instead of the object itself, because callers may request the symbol `toString`.
const coins: ReadonlyMap<string, Coin> = new Map(
  Object.entries(coinIds).map(([symbol, ids]): [string, Coin] => [symbol, { symbol, ...ids }]),
)

const coinsById = new Map([...coins.values()].map((coin) => [coin.coingecko, coin]))

/** Returns the listed coin with this CoinGecko id. */
export function coinOfId(id: string): Coin | undefined {
  return coinsById.get(id)
}

/** Returns the listed coin with this symbol. Undefined: rank and volume decide which coin is meant. */
export function coinOf(symbol: string): Coin | undefined {
  return coins.get(aliases.get(symbol) ?? symbol)
}

export function listedCoins(): readonly Coin[] {
  return [...coins.values()]
}
