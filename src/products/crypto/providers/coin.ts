import coinIds from './coinIds.json' with { type: 'json' }

/** A listed coin. The symbol identifies this coin, even if unlisted coins share the symbol. */
export interface Coin {
  /** The symbol that providers use: `BTC`, even if the caller requested `XBT`. */
  readonly symbol: string
  readonly coingecko: string
  readonly coinpaprika?: string | undefined
  /** Kraken's dollar pair of the coin, to confirm the coin's price and history. Absent: Kraken is not used. */
  readonly kraken?: string | undefined
}

/** Alternative symbols of listed coins, and former symbols of coins that were renamed one to one. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['XBT', 'BTC'],
  ['XDG', 'DOGE'],
  ['MATIC', 'POL'],
  ['RNDR', 'RENDER'],
])

const coins: ReadonlyMap<string, Coin> = new Map(
  Object.entries(coinIds).map(([symbol, ids]): [string, Coin] => [symbol, { symbol, ...ids }]),
)

// Use a map, because a caller may request the id `constructor`, which every plain object has as a member.
const coinsById = new Map([...coins.values()].map((coin) => [coin.coingecko, coin]))

export function coinOfId(id: string): Coin | undefined {
  return coinsById.get(id)
}

/** Finds a listed coin by its symbol. Undefined: not listed, so rank and volume decide which coin is meant. */
export function coinOf(symbol: string): Coin | undefined {
  return coins.get(aliases.get(symbol) ?? symbol)
}

export function listedCoins(): readonly Coin[] {
  return [...coins.values()]
}
