import type { TokenPriceAttoUsd } from '../../pricing/tokenPrice.ts'
import type { ListedPrice } from '@tollbook/core/quote'
import { Fault } from '@tollbook/core/fault'
import type { Prices, PricesDeps } from './prices.ts'
import { pricesAt, shownPrice } from './shownPrice.ts'

/** Prices by TOKEN_PRICE_USD, published once. */
export async function openFixedPrices(tokenPriceAttoUsd: TokenPriceAttoUsd, deps: PricesDeps): Promise<Prices> {
  const { terms, priceLists, split, clock } = deps
  const prices = pricesAt(tokenPriceAttoUsd, deps)
  if (prices === undefined)
    throw new Fault(
      'TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist; set a higher one',
      {
        retryable: false,
      },
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
