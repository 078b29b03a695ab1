import { Fault } from '@tollbook/core/fault'
import type { ListedPrice, Price } from '@tollbook/core/quote'
import type { PriceSettings } from '../../config/priceSettings.ts'
import { priceAll } from '../../pricing/currentPrice.ts'
import type { PricedProduct } from '../../pricing/priceList.ts'
import type { SplitShare } from '../../pricing/splitSetting.ts'
import type { TokenPriceAttoUsd } from '../../pricing/tokenPrice.ts'
import { openMarketPrices } from './marketPrices.ts'
import { type Prices, type PricingDeps, shownPrice } from './prices.ts'

export interface PricesDeps extends Omit<PricingDeps, 'pricesAt' | 'split'> {
  /** Products for sale, with prices in US dollars. */
  readonly sold: readonly PricedProduct[]
  /** How each payment is divided. */
  readonly split: readonly SplitShare[]
}

/** Prices by the operator's token price, or by the price that the markets agree on. */
export async function openPrices(settings: PriceSettings, deps: PricesDeps): Promise<Prices> {
  const pricing = { ...deps, pricesAt: pricesAt.bind(undefined, deps) }
  return settings.source === 'fixed'
    ? openFixedPrices(settings.tokenPriceAttoUsd, pricing)
    : openMarketPrices(settings.market, pricing)
}

/** Undefined when a request would cost more tokens than can exist. */
function pricesAt({ sold, split, terms: { mint, decimals } }: PricesDeps, tokenPriceAttoUsd: TokenPriceAttoUsd) {
  return priceAll(sold, { tokenPriceAttoUsd, decimals, split })?.map((price): Price => ({ ...price, mint }))
}

/** Published once: the price changes only with the configuration. */
async function openFixedPrices(tokenPriceAttoUsd: TokenPriceAttoUsd, deps: PricingDeps): Promise<Prices> {
  const { terms, priceLists, split, clock } = deps
  const prices = deps.pricesAt(tokenPriceAttoUsd)
  if (prices === undefined)
    throw new Fault(
      'TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist; set a higher one',
      { retryable: false },
    )
  const priceList = await priceLists.publish({ kind: 'PriceListPublished', source: 'fixed', split, prices })
  const byEndpoint = new Map(prices.map((price): [string, ListedPrice] => [price.endpoint, { ...price, priceList }]))
  return {
    checks: [],
    currentPrice: (endpoint) => byEndpoint.get(endpoint),
    tokenPrice: () => shownPrice({ tokenPriceAttoUsd, source: 'fixed', asOfMs: clock.nowMs() }, terms),
    close: () => Promise.resolve(),
  }
}
