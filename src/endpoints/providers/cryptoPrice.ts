import { UpstreamFailure } from '../../outbound/upstreamFailure.ts'
import { signedPercent } from '../signedText.ts'
import type { Coin } from './coin.ts'
import { type Observation, positive, type Provider } from './provider.ts'

export interface CryptoQuery {
  /** The requested symbol in capitals. */
  readonly symbol: string
  /** Undefined for coins outside our list. */
  readonly coin: Coin | undefined
}

/** In US dollars. */
export type CryptoPrice = {
  readonly symbol: string
  readonly price: number
  readonly change24h: string
  readonly volume24h: number
  readonly marketCap: number
}

export type CryptoProvider = Provider<CryptoQuery, CryptoPrice>

/** The fields of a provider's answer; null and undefined where it has none. */
export interface CryptoFigures {
  readonly id: string
  readonly name: string
  readonly price: number | null | undefined
  readonly changePercent: number | null | undefined
  readonly volume: number | null | undefined
  readonly marketCap: number | null | undefined
  /** Coins of which the market capitalisation is made, if the provider reports them. */
  readonly supply?: number | null | undefined
  /** ISO 8601 with its zone. */
  readonly updatedAt: string | null | undefined
  /** Other coins of the same symbol, by the provider's ids. */
  readonly others: readonly string[]
}

// Hundreds of tokens share some symbols. `meta` shows the likeliest.
const alternativesMax = 10

/** Requires every field: a coin without a market capitalisation or a change is not sold at zero. */
export function cryptoObservation({ symbol }: CryptoQuery, figures: CryptoFigures): Observation<CryptoPrice> {
  const { id, name, others, changePercent, updatedAt } = figures
  if (changePercent === null || changePercent === undefined || changePercent <= -100)
    throw new UpstreamFailure('incomplete', 'the change of 24 hours is missing')
  refuseContradiction(figures)
  const asOfMs = Date.parse(updatedAt ?? '')
  if (Number.isNaN(asOfMs)) throw new UpstreamFailure('incomplete', 'the time is missing')
  return {
    data: {
      symbol,
      price: positive(figures.price, 'the price'),
      change24h: signedPercent(changePercent, 2),
      volume24h: positive(figures.volume, 'the volume'),
      marketCap: positive(figures.marketCap, 'the market capitalisation'),
    },
    asOfMs,
    detail: {
      id,
      name,
      currency: 'USD',
      change24hPercentValue: changePercent,
      ...(others.length === 0 ? {} : { alternatives: others.slice(0, alternativesMax) }),
    },
  }
}

// Price, capitalisation and supply are not of the same second.
const contradictionMin = 0.2

/** A price that was corrupted alone does not fit the other figures of its answer. */
function refuseContradiction({ price, marketCap, supply }: CryptoFigures): void {
  if (!supply || !price || !marketCap) return
  if (Math.abs((price * supply) / marketCap - 1) > contradictionMin)
    throw new UpstreamFailure('incomplete', 'price and supply do not make the market capitalisation')
}

export interface Ranked {
  readonly rank: number | null | undefined
  readonly volume: number | null | undefined
}

/** Orders coins by rank of market capitalisation, unranked ones last, then by volume. */
export function byRank(a: Ranked, b: Ranked): number {
  const rankOf = ({ rank }: Ranked) => (isRanked(rank) ? rank : Number.MAX_SAFE_INTEGER)
  return rankOf(a) - rankOf(b) || (b.volume ?? 0) - (a.volume ?? 0)
}

/** CoinPaprika writes 0 where CoinGecko writes null. */
export function isRanked(rank: number | null | undefined): rank is number {
  return rank !== null && rank !== undefined && rank > 0
}
