import coinIds from './coinIds.json' with { type: 'json' }

/** A listed coin, identified by its symbol even if other coins share it. */
export interface Coin {
  /** Spelling of the providers: `XBT` and `BTC` are one coin. */
  readonly symbol: string
  readonly coingecko: string
  readonly coinpaprika?: string | undefined
  /** Kraken's pair with the dollar: the price and the history of the coin can be checked. */
  readonly kraken?: string | undefined
}

/** Other symbols of one coin, and those from before it was renamed one to one. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
  ['MATIC', 'POL'],
  ['RNDR', 'RENDER'],
])

// A map and not the object itself, because callers may ask for the symbol `toString`.
const coins: ReadonlyMap<string, Coin> = new Map(
  Object.entries(coinIds).map(([symbol, ids]): [string, Coin] => [symbol, { symbol, ...ids }]),
)

const coinsById = new Map([...coins.values()].map((coin) => [coin.coingecko, coin]))

/** The listed coin of CoinGecko's id. */
export function coinOfId(id: string): Coin | undefined {
  return coinsById.get(id)
}

/** The listed coin of a symbol; undefined when rank and volume decide. */
export function coinOf(symbol: string): Coin | undefined {
  return coins.get(aliases.get(symbol) ?? symbol)
}

export function listedCoins(): readonly Coin[] {
  return [...coins.values()]
}
