import { displayNumber, formatDecimal } from '@tollbook/core/money'
import type { Dollar } from '../payment/dollar.ts'
import type { PaymentRail } from '../paywall/rail.ts'
import { usdDecimals } from '../pricing/priceList.ts'
import { distributionOf, type SplitShare } from '../pricing/splitSetting.ts'

/** All documents use the same object, so that they describe a dollar in the same words. */
export interface AcceptedDollar {
  readonly symbol: string
  readonly mint: string
  readonly decimals: number
  readonly paymentWallet: string
  readonly rails: readonly string[]
  readonly minimumMicroUsd: bigint
  readonly burn: Dollar['burn']
  readonly description: string
}

interface OpenOffers {
  readonly rails: readonly Pick<PaymentRail, 'name' | 'description'>[]
  readonly split: readonly SplitShare[]
}

/** Returns the dollars that an open rail offers. Others are omitted, because no client could pay them. */
export function acceptedDollars(dollars: readonly Dollar[], { rails, split }: OpenOffers): readonly AcceptedDollar[] {
  return dollars.flatMap((dollar): AcceptedDollar[] => {
    const { symbol, minimumMicroUsd, burn, terms } = dollar
    const { mint, decimals, paymentWallet } = terms
    const offering = rails.filter(({ name }) => dollar.rails.includes(name))
    if (offering.length === 0) return []
    const protocols = list.format(offering.map(({ name, description }) => description?.protocol ?? name))
    const minimum = formatDecimal(minimumMicroUsd, usdDecimals)
    const description = `${symbol} (mint ${mint}, ${decimals} decimals) pays by ${protocols} to ${paymentWallet} for prices from $${minimum}. ${burnedFor(dollar, split)}${sharedAs(dollar)}`
    const names = offering.map(({ name }) => name)
    return [{ symbol, mint, decimals, paymentWallet, rails: names, minimumMicroUsd, burn, description }]
  })
}

const list = new Intl.ListFormat('en')

function burnedFor({ symbol, burn }: Dollar, split: readonly SplitShare[]): string {
  if (burn === 'none') return `Nothing is burned for payments in ${symbol}.`
  const { burn: share = '0%' } = distributionOf(split)
  return `${share} of the price is burned, in the token; the treasury delivers the tokens.`
}

function sharedAs({ split }: Dollar): string {
  if (split === undefined) return ''
  const shares = Object.entries(distributionOf(split)).map(([account, share]) => `${account} (${share})`)
  return ` The dollars go to ${list.format(shares)}.`
}

/**
 * First sentence about the accepted dollars. A dollar can be unavailable at times, for example while its burns cannot
 * be promised.
 */
export const dollarsIntro = 'Dollars are accepted in addition to the token, whenever the 402 offers them.'

export function shownDollar({ minimumMicroUsd, burn, description, ...dollar }: AcceptedDollar) {
  return { ...dollar, minimumUSD: displayNumber(minimumMicroUsd, usdDecimals), burn, description }
}

/**
 * Returns the member `dollars` of a document. Empty if no dollars are accepted, so that the document does not have the
 * member.
 */
export function dollarsMember(dollars: readonly AcceptedDollar[]) {
  return dollars.length === 0 ? {} : { dollars: dollars.map(shownDollar) }
}

/** True if payments in each dollar burn tokens. Otherwise a page must limit its promise of a burn to the token. */
export function burnsAlways(dollars: readonly Pick<AcceptedDollar, 'burn'>[]): boolean {
  return dollars.every(({ burn }) => burn === 'token')
}
