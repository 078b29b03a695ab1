import type { TokenPriceAttoUsd } from '../pricing/tokenPrice.ts'
import { Fault } from '@tollbook/core/fault'
import type { Prices, PricesDeps } from './prices.ts'
import { pricesAt, shownPrice } from './shownPrice.ts'

/** Prices by TOKEN_PRICE_USD, published once. */
export async function openFixedPrices(tokenPriceAttoUsd: TokenPriceAttoUsd, deps: PricesDeps): Promise<Prices> {
  const { terms, ledger, clock } = deps
  const prices = pricesAt(tokenPriceAttoUsd, deps)
  if (prices === undefined)
    throw new Fault(
      'TOKEN_PRICE_USD is so small that a request would cost more tokens than can exist; set a higher one',
      {
        retryable: false,
      },
    )
  await ledger.publishPrices({ kind: 'PriceListPublished', source: 'fixed', prices })
  const byEndpoint = new Map(prices.map((price) => [price.endpoint, price]))
  return {
    checks: [],
    currentPrice: (endpoint) => byEndpoint.get(endpoint),
    tokenPrice: () => shownPrice({ tokenPriceAttoUsd, source: 'fixed', asOfMs: clock.nowMs() }, terms),
    close: () => Promise.resolve(),
  }
}
