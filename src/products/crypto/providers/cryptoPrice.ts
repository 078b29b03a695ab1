import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { AgreementRule } from '../../../sourcing/agreement/judgeReadings.ts'
import { instantOf } from '../../../sourcing/instant.ts'
import { signedPercent } from '../../../sourcing/signedText.ts'
import type { Coin } from './coin.ts'
import { type Observation, positive, type Provider } from '../../../sourcing/provider.ts'

export interface CryptoQuery {
  /** The requested symbol in capitals, or the requested id. */
  readonly symbol: string
  /** CoinGecko's id. If present, the coin is requested by its id and not by its symbol. */
  readonly id?: string
  /** Undefined for a coin outside our list. */
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

/**
 * Tolerances between providers. The figures of some providers are minutes old. Providers define volume and
 * capitalisation differently, so the wide tolerances for these figures only detect a wrong unit or a wrong coin.
 */
export const cryptoAgreement: AgreementRule = {
  main: 'price',
  tolerances: {
    price: { percent: 3 },
    change24h: { points: 3 },
    volume24h: { factor: 10 },
    marketCap: { factor: 1.5 },
  },
  // Allow two differences: the last known value may come from the other provider, and the market may have moved.
  jumps: {
    price: { percent: 12 },
    change24h: { points: 25 },
    volume24h: { factor: 20 },
    marketCap: { factor: 1.7 },
  },
  move: 'change24h',
}

/** Null or undefined: the provider does not report the figure. */
type Reported<T> = T | null | undefined

export interface CryptoFigures {
  readonly id: string
  /** The symbol in capitals. It is sold if the coin was requested by id. */
  readonly symbol: string
  readonly name: string
  readonly rank: Reported<number>
  readonly price: Reported<number>
  readonly changePercent: Reported<number>
  readonly volume: Reported<number>
  readonly marketCap: Reported<number>
  /** Number of coins in circulation, from which the provider computes the market capitalisation. */
  readonly supply?: Reported<number>
  readonly supplyMax?: Reported<number>
  readonly high?: Reported<number>
  readonly low?: Reported<number>
  /** Change of the price within 24 hours, in US dollars. */
  readonly changeAmount?: Reported<number>
  /** Time of the figures, in ISO 8601 with a zone. */
  readonly updatedAt: Reported<string>
  /** The provider's ids of other coins with the same symbol. */
  readonly others: readonly string[]
}

// Maximum of alternatives in an answer, because many tokens share a symbol.
const alternativesMax = 10

/**
 * Checks the figures of a provider, and returns the price. Throws if a sold field is missing, so that a missing change
 * or capitalisation is never sold as zero.
 */
export function cryptoObservation(query: CryptoQuery, figures: CryptoFigures): Observation<CryptoPrice> {
  const { id, others, changePercent, updatedAt } = figures
  const name = plainName(figures.name) || id
  if (changePercent === null || changePercent === undefined || changePercent <= -100)
    throw new UpstreamFailure('incomplete', 'the change of 24 hours is missing')
  const asOfMs = instantOf(updatedAt ?? '')
  if (asOfMs === undefined) throw new UpstreamFailure('incomplete', 'the time or its zone is missing')
  const price = positive(figures.price, 'the price')
  const volume24h = positive(figures.volume, 'the volume')
  const marketCap = positive(figures.marketCap, 'the market capitalisation')
  if (price > priceMax || marketCap > marketCapMax || volume24h > marketCapMax || changePercent > changePercentMax)
    throw new UpstreamFailure('incomplete', 'a figure that no coin has')
  refuseContradiction({ ...figures, price, marketCap, changePercent })
  return {
    data: {
      symbol: query.id === undefined ? query.symbol : figures.symbol,
      price,
      change24h: signedPercent(changePercent, 2),
      volume24h,
      marketCap,
    },
    details: detailsOf({ ...figures, name }),
    figures: { price, change24h: changePercent, volume24h, marketCap },
    asOfMs,
    meta: {
      id,
      name,
      currency: 'USD',
      change24hPercentValue: changePercent,
      ...(others.length === 0 ? {} : { alternatives: others.slice(0, alternativesMax) }),
    },
  }
}

const nameCharactersMax = 64

/** Returns a name that is plain text. Empty for markup or a long text, so that the id is then sold as the name. */
function plainName(text: string): string {
  const said = text.normalize('NFKC').trim()
  const isPlain =
    said.length <= nameCharactersMax && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(said) && !/[<>]/.test(said)
  return isPlain && said.isWellFormed() ? said : ''
}

function detailsOf({ id, name, rank, high, low, supply }: CryptoFigures) {
  return {
    id,
    name,
    currency: 'USD',
    ...(isRanked(rank) ? { rank } : {}),
    ...(high ? { high24h: high } : {}),
    ...(low ? { low24h: low } : {}),
    ...(supply ? { circulatingSupply: supply } : {}),
  }
}

// Bounds that detect defective answers. They are far above the price of any coin and the value of all coins.
const priceMax = 1e8
const marketCapMax = 1e14
// Maximum change in per cent. From 1e21 on, the text of a change would have an exponent, which the specification does
// not allow.
const changePercentMax = 1e9
// Tolerate a difference of 20 %, because price, capitalisation and supply are from different moments.
const contradictionMin = 0.2
// Tolerate a difference of 5 %, because the day's range may be some minutes older than the price.
const rangeSlack = 0.05
const changePointsMax = 2

interface Sold extends CryptoFigures {
  readonly price: number
  readonly marketCap: number
  readonly changePercent: number
}

/** Throws if the figures of an answer contradict each other, because at least one of them is then wrong. */
function refuseContradiction(sold: Sold): void {
  const { price, marketCap, changePercent, supply, supplyMax, high, low, changeAmount } = sold
  const refuse = (why: string) => new UpstreamFailure('incomplete', why)
  if (supply && Math.abs((price * supply) / marketCap - 1) > contradictionMin)
    throw refuse('price and supply do not make the market capitalisation')
  if (supplyMax && marketCap / price > supplyMax * (1 + contradictionMin))
    throw refuse('the market capitalisation needs more coins than exist')
  if ((high && price > high * (1 + rangeSlack)) || (low && price < low * (1 - rangeSlack)))
    throw refuse('the price is outside the range of the day')
  if (changeAmount === null || changeAmount === undefined) return
  const percent = (changeAmount / (price - changeAmount)) * 100
  if (!(Math.abs(percent - changePercent) <= Math.max(changePointsMax, Math.abs(percent) / 4)))
    throw refuse('the change in dollars contradicts the change in per cent')
}

/** True for a coin with a rank. CoinPaprika writes 0 for an unranked coin, and CoinGecko writes null. */
export function isRanked(rank: number | null | undefined): rank is number {
  return rank !== null && rank !== undefined && rank > 0
}
