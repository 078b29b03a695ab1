import { Fault } from '@tollbook/core/fault'
import type { Address } from '@tollbook/core/address'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { PriceConfig } from '../../config/priceConfig.ts'
import { priceAll } from '../../pricing/currentPrice.ts'
import { dollarPrices, findPoorTreasury } from '../../pricing/dollarPrices.ts'
import type { Dollar } from '../../payment/dollar.ts'
import { meteredEntries, type PricedProduct } from '../../pricing/priceList.ts'
import type { SplitShare } from '../../pricing/splitSetting.ts'
import type { TokenPriceAttoUsd } from '../../pricing/tokenPrice.ts'
import { openMarketPrices } from './marketPrices.ts'
import { type Prices, type PricingDeps, shownPrice } from './prices.ts'

export interface PricesDeps extends Omit<PricingDeps, 'pricesAt' | 'listed'> {
  readonly sold: readonly PricedProduct[]
  readonly split: readonly SplitShare[]
  readonly dollars?: readonly Dollar[]
}

export async function openPrices(config: PriceConfig, deps: PricesDeps): Promise<Prices> {
  const pricing = { ...deps, pricesAt: pricesAt.bind(undefined, deps), listed: listedFacts(deps) }
  return config.source === 'fixed'
    ? openFixedPrices(config.tokenPriceAttoUsd, pricing)
    : openMarketPrices(config, pricing)
}

/**
 * Returns the facts of a price list that the token price does not affect. Throws a `Fault` if a dollar owes the burn,
 * and its own split gives the treasury less than the share of the burn.
 */
function listedFacts({ sold, split, dollars = [] }: PricesDeps): PricingDeps['listed'] {
  const metered = meteredEntries(sold)
  // The treasury delivers the tokens for the burn, so a split in dollars must leave it at least that share (decision
  // 0070).
  const [poor] = dollars.flatMap((dollar) => findPoorTreasury(dollar, split) ?? [])
  if (poor !== undefined) throw new Fault(poor, { retryable: false })
  const dollarSplits = dollars.flatMap((dollar) =>
    dollar.split === undefined ? [] : [{ mint: dollar.terms.mint, split: dollar.split }],
  )
  return {
    split,
    ...(dollarSplits.length === 0 ? {} : { dollarSplits }),
    ...(metered.length === 0 ? {} : { metered }),
  }
}

/** Returns the prices at this price of the token. Returns a text if a product cannot be sold at it. */
function pricesAt(
  { sold, split, dollars = [], terms: { mint, decimals } }: PricesDeps,
  tokenPriceAttoUsd: TokenPriceAttoUsd,
) {
  const priced = priceAll(sold, { tokenPriceAttoUsd, decimals, split })
  if (typeof priced === 'string') return priced
  const inToken = priced.map((price): Price => ({ ...price, mint }))
  // Put the token first, because readers that know only one mint take the first price of an endpoint. The minimum price
  // of a dollar covers the network fee. Debits of tabs have no network fee, so with tabs the minimum is one millionth.
  const hasTabs = sold.some(({ isDeposit }) => isDeposit === true)
  const inDollars = dollars.flatMap(({ terms: { mint: dollar, decimals: own }, ...given }) => {
    const minimumMicroUsd = hasTabs ? 1n : given.minimumMicroUsd
    return dollarPrices(inToken, { ...given, minimumMicroUsd, mint: dollar, decimals: own }, split)
  })
  return [...inToken, ...inDollars]
}

/** Publishes the prices once, because fixed prices change only with the configuration. */
async function openFixedPrices(tokenPriceAttoUsd: TokenPriceAttoUsd, deps: PricingDeps): Promise<Prices> {
  const { terms, priceLists, clock } = deps
  const prices = deps.pricesAt(tokenPriceAttoUsd)
  if (typeof prices === 'string')
    throw new Fault(`${prices}. Set another price in PRICES_USD, or another TOKEN_PRICE_USD or SPLIT`, {
      retryable: false,
    })
  const priceList = await priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', ...deps.listed, prices })
  const listed = listedPrices(prices, priceList)
  return {
    checks: [],
    currentPrice: (endpoint, mint = terms.mint) => listed(endpoint, mint),
    tokenPriceAttoUsd: () => tokenPriceAttoUsd,
    tokenPrice: () => shownPrice({ tokenPriceAttoUsd, source: 'fixed', asOfMs: clock.nowMs() }, terms),
    close: () => Promise.resolve(),
  }
}

function listedPrices(prices: readonly Price[], priceList: number) {
  const keyOf = (endpoint: string, mint: Address) => `${mint} ${endpoint}`
  const known = new Map(
    prices.map((price): [string, ListedPrice] => [keyOf(price.endpoint, price.mint), { ...price, priceList }]),
  )
  return (endpoint: string, mint: Address) => known.get(keyOf(endpoint, mint))
}
