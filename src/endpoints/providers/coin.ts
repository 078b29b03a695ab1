import coinIds from './coinIds.json' with { type: 'json' }

/** A coin that is meant by its symbol, whatever else has taken the same one. */
export interface Coin {
  /** As the providers spell it: `XBT` and `BTC` are one coin. */
  readonly symbol: string
  readonly coingecko: string
  readonly coinpaprika?: string | undefined
  /** Traded against the dollar there, so that a price can be checked against it. */
  readonly coinbase?: string | undefined
  readonly kraken?: string | undefined
}

/** Names that the market has for one coin, and those it had before it was renamed one to one. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
  ['MATIC', 'POL'],
  ['RNDR', 'RENDER'],
])

// A map and not the object itself: `toString` is a symbol that people may ask for.
const coins: ReadonlyMap<string, Coin> = new Map(
  Object.entries(coinIds).map(([symbol, ids]): [string, Coin] => [symbol, { symbol, ...ids }]),
)

/** The coin that the symbol stands for by our own list; undefined when it is left to rank and volume. */
export function coinOf(symbol: string): Coin | undefined {
  return coins.get(aliases.get(symbol) ?? symbol)
}
