import { UpstreamFailure } from '../../../product/upstreamFailure.ts'
import { type AgreementRule, movePercentMax } from '../../../sourcing/agreement/judgeReadings.ts'
import { signedPercent, signedText } from '../../../sourcing/signedText.ts'
import { type Observation, positive, type Provider } from '../../../sourcing/provider.ts'
import { expectedCurrencies, isOfUnitedStates, type Ticker } from './ticker.ts'
import { missesUsSession } from './usSession.ts'

export interface StockQuery {
  readonly symbol: string
  readonly ticker: Ticker
}

export type StockPrice = {
  readonly symbol: string
  readonly price: number
  readonly change: string
  readonly changePercent: string
  readonly volume: number
}

export type StockProvider = Provider<StockQuery, StockPrice>

export type MarketState = 'PRE' | 'REGULAR' | 'POST' | 'CLOSED'

/** Null or undefined: the provider does not report the field. */
export interface StockFigures {
  readonly price: number | null | undefined
  readonly previousClose: number | null | undefined
  /** Number of shares traded today. */
  readonly volume: number | null | undefined
  /** True for a fund. A fund is priced once a day and is not traded, so it has no volume. */
  readonly isFund?: boolean
  readonly asOfMs: number | null | undefined
  readonly currency: string | null | undefined
  readonly name?: string | null | undefined
  readonly exchange?: string | null | undefined
  readonly marketState?: MarketState | undefined
  readonly delayedByMinutes?: number | undefined
  readonly open?: number | null | undefined
  readonly high?: number | null | undefined
  readonly low?: number | null | undefined
  /** The provider's own daily change, which must match the computed change. */
  readonly changePercent?: number | null | undefined
  /** Start of the regular session that is running at `nowMs`, or an earlier time. Undefined: no session is known. */
  readonly openSinceMs: number | undefined
  readonly nowMs: number
}

// Bound that detects defective prices. It is far above any share in US dollars, because some currencies have small
// units.
const priceMax = 1e10
// Time after the opening in which a price may still be from the previous day. Some providers are 15 minutes late.
const openingMs = 30 * 60_000

// Maximum age of a price while its share is being traded. Some providers are 15 minutes late. An older price needs a
// second provider.
const tradeAgeMaxMs = 60 * 60_000
// Tolerate a difference of 2 %, because the day's range may be some minutes older than the price.
const rangeSlack = 0.02
// Tolerate a difference of 0.1 points, because providers round the percentage to two decimals.
const changePointsMax = 0.1

/**
 * Tolerances between providers. They are wide, because some figures are 15 minutes older than others, and volumes grow
 * fast after the opening.
 */
export const stockAgreement: AgreementRule = {
  main: 'price',
  tolerances: { price: { percent: 2 }, changePercent: { points: 2 }, volume: { factor: 10 } },
  // The volume starts at zero each day, so the last known volume can only detect a wrong unit.
  jumps: { price: { percent: 10 }, changePercent: { points: 10 }, volume: { factor: 50 } },
  move: 'changePercent',
}

/** Units that are a fraction of a currency. Some exchanges quote in them, such as London in pence. */
const parts: ReadonlyMap<string, readonly [whole: string, perWhole: number]> = new Map([
  ['GBp', ['GBP', 100]],
  ['GBX', ['GBP', 100]],
  ['ILA', ['ILS', 100]],
  ['ZAc', ['ZAR', 100]],
  ['KWF', ['KWD', 1_000]],
])

/**
 * Returns the currency of a unit. Some exchanges quote in pence or cents: `inWhole` converts to the currency. Throws
 * for an unknown unit, because it may be a fraction of a currency.
 */
export function wholeUnitOf(currency: string) {
  const [whole, perWhole] = parts.get(currency) ?? [currency, 1]
  if (!/^[A-Z]{3}$/.test(whole)) throw new UpstreamFailure('incomplete', 'the currency is unknown')
  return {
    currency: whole,
    isPart: perWhole > 1,
    inWhole: (quoted: number) => (perWhole === 1 ? quoted : rounded(quoted / perWhole)),
  }
}

/**
 * Checks the figures of a provider, and returns the price. The change is always computed here, because providers
 * compare with different days.
 */
export function stockObservation({ symbol, ticker }: StockQuery, figures: StockFigures): Observation<StockPrice> {
  const { currency, asOfMs } = figures
  if (currency === undefined || currency === null || currency === '')
    throw new UpstreamFailure('incomplete', 'the currency is missing')
  if (asOfMs === undefined || asOfMs === null || !Number.isFinite(asOfMs) || asOfMs <= 0)
    throw new UpstreamFailure('incomplete', 'the time is missing')
  const { currency: whole, isPart, inWhole } = wholeUnitOf(currency)
  const price = positive(figures.price, 'the price')
  const previousClose = positive(figures.previousClose, 'the previous close')
  if (price > priceMax) throw new UpstreamFailure('incomplete', 'a price that no share has')
  refuseOldTrade(figures, asOfMs)
  const change = inWhole(price - previousClose)
  const percent = (price / previousClose - 1) * 100
  if (Math.abs((figures.changePercent ?? percent) - percent) > changePointsMax)
    throw new UpstreamFailure('incomplete', 'the change contradicts the previous close')
  const doubt = doubtOf(ticker, { ...figures, currency, asOfMs, price }, percent)
  return {
    data: {
      symbol,
      price: inWhole(price),
      change: signedText(change, 2),
      changePercent: signedPercent(percent, 1),
      volume: volumeOf(figures),
    },
    details: {
      currency: whole,
      previousClose: rounded(inWhole(previousClose)),
      ...(figures.open ? { open: inWhole(figures.open) } : {}),
      ...(figures.high ? { high: inWhole(figures.high) } : {}),
      ...(figures.low ? { low: inWhole(figures.low) } : {}),
      ...detailsOf(figures),
    },
    figures: {
      currency: whole,
      price: inWhole(price),
      changePercent: percent,
      volume: volumeOf(figures),
    },
    asOfMs,
    ...(doubt === undefined ? {} : { doubt }),
    meta: {
      currency: whole,
      ...(isPart ? { quotedIn: currency } : {}),
      previousClose: rounded(inWhole(previousClose)),
      changeValue: rounded(change),
      changePercentValue: rounded(percent),
      ...detailsOf(figures),
    },
  }
}

interface Priced extends StockFigures {
  readonly currency: string
  readonly asOfMs: number
  readonly price: number
}

function doubtOf(ticker: Ticker, priced: Priced, percent: number): string | undefined {
  const { price, high, low, currency } = priced
  if (Math.abs(percent) > movePercentMax) return `a move of ${Math.round(percent)} % in a day`
  if (expectedCurrencies(ticker)?.includes(currency) === false) return `${currency} at this exchange`
  if ((high && price > high * (1 + rangeSlack)) || (low && price < low * (1 - rangeSlack)))
    return 'a price outside the range of the day'
  return ageDoubtOf(ticker, priced)
}

/**
 * Returns a doubt about the age of a price. Shares without a trade today may have an older price. Funds may too,
 * because they are priced in the evening.
 */
function ageDoubtOf(ticker: Ticker, { asOfMs, nowMs, openSinceMs, volume, isFund }: Priced): string | undefined {
  if (volume === 0 || isFund === true) return undefined
  const isOpen = openSinceMs !== undefined && nowMs - openSinceMs >= openingMs
  if (isOpen && nowMs - asOfMs > tradeAgeMaxMs) return 'a trade of an earlier hour'
  return isOfUnitedStates(ticker) && missesUsSession(asOfMs, nowMs) ? 'a price of an earlier session' : undefined
}

/** Refuses a price from an earlier day after the first half hour. A share without a trade today keeps its old price. */
function refuseOldTrade({ openSinceMs, nowMs, volume }: StockFigures, asOfMs: number): void {
  if (openSinceMs === undefined || nowMs - openSinceMs < openingMs || volume === 0) return
  if (asOfMs < openSinceMs) throw new UpstreamFailure('incomplete', 'a price of an earlier day in an open market')
}

/**
 * Returns the volume. Zero is valid for a fund, and for a share without a trade today, whose price then equals the
 * previous close.
 */
function volumeOf({ volume, price, previousClose, isFund = false }: StockFigures): number {
  if (isFund) return volume ?? 0
  if (volume === 0 && price === previousClose) return 0
  if (volume !== undefined && volume !== null && !Number.isInteger(volume))
    throw new UpstreamFailure('incomplete', 'the volume is not a number of shares')
  return positive(volume, 'the volume')
}

function detailsOf({ name, exchange, marketState, delayedByMinutes }: StockFigures) {
  return {
    ...(isText(name) ? { name } : {}),
    ...(isText(exchange) ? { exchange } : {}),
    ...(marketState === undefined ? {} : { marketState }),
    ...(delayedByMinutes === undefined ? {} : { delayedByMinutes }),
  }
}

function isText(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && value !== ''
}

/** Removes digits that binary subtraction adds, as in 267.44 - 266.19. */
function rounded(value: number): number {
  return Number(value.toFixed(6))
}
