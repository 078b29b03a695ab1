import { plainName } from '../../../product/plainName.ts'
import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import type { AgreementRule } from '../../../sourcing/agreement/judgeReadings.ts'
import { signedPercent } from '../../../sourcing/signedText.ts'
import type { CryptoPrice } from './cryptoPrice.ts'
import type { Figure } from '../market/marketPrice.ts'
import { type Observation, positive, type Provider, type Witness } from '../../../sourcing/provider.ts'

/** A token by its mint. Symbols and names are chosen by issuers and identify nothing. */
export interface TokenQuery {
  /** The mint, as other products have their symbol here. */
  readonly symbol: string
}

export type TokenProvider = Provider<TokenQuery, CryptoPrice>
export type TokenWitness = Witness<TokenQuery>

/** Pools differ by their depth, and each provider counts other pools. */
export const tokenAgreement: AgreementRule = {
  main: 'price',
  tolerances: {
    price: { percent: 3 },
    change24h: { points: 15 },
    volume24h: { factor: 10 },
    marketCap: { factor: 3 },
  },
  jumps: {
    price: { percent: 12 },
    change24h: { points: 25 },
    volume24h: { factor: 20 },
    marketCap: { factor: 3.4 },
  },
}

/** Figures of a token as a market reports them, in US dollars and not checked yet. */
export interface TokenFigures {
  readonly price: number | undefined
  readonly changePercent: number | undefined
  readonly volume: number | undefined
  readonly marketCap: number | undefined
  readonly liquidity: number | undefined
  readonly symbol?: string | null | undefined
  readonly name?: string | null | undefined
  readonly asOfMs: number
}

// The price of a shallower token is moved by anyone for some hundred dollars.
const liquidityUsdMin = 10_000
const marketCapMax = 1e14

/** Throws `UpstreamFailure` for a token without liquid pools, or with figures that no token can have. */
export function tokenObservation({ symbol: mint }: TokenQuery, figures: TokenFigures): Observation<CryptoPrice> {
  const { changePercent, symbol, name, asOfMs } = figures
  const liquidity = positive(figures.liquidity, 'the liquidity')
  if (liquidity < liquidityUsdMin) throw new UpstreamFailure('not_found', 'its pools are too shallow for a price')
  if (changePercent === undefined || !Number.isFinite(changePercent) || changePercent <= -100)
    throw new UpstreamFailure('incomplete', 'the change of 24 hours is missing')
  const price = positive(figures.price, 'the price')
  const volume24h = positive(figures.volume, 'the volume')
  const marketCap = positive(figures.marketCap, 'the market capitalisation')
  if (marketCap > marketCapMax || volume24h > marketCapMax || price > marketCap)
    throw new UpstreamFailure('incomplete', 'a figure that no token has')
  return {
    data: { symbol: mint, price, change24h: signedPercent(changePercent, 2), volume24h, marketCap },
    details: {
      id: mint,
      name: plainName(name),
      currency: 'USD',
      ...(plainName(symbol) === '' ? {} : { tokenSymbol: plainName(symbol) }),
      liquidity,
    },
    figures: { price, change24h: changePercent, volume24h, marketCap },
    asOfMs,
    detail: { mint, currency: 'USD', change24hPercentValue: changePercent },
  }
}

/** A figure as a number; undefined when it is absent or is not a finite number. */
export function numberOf(text: Figure): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}
