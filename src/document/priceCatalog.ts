import type { Endpoint } from '../endpoints/endpoint.ts'
import { examples } from '../endpoints/examples.ts'
import type { Price } from '@tollbook/core/quote'
import type { PaymentTerms } from '../payment/settlement.ts'
import { priceList, usdDecimals } from '../pricing/priceList.ts'
import { tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { displayNumber } from '@tollbook/core/money'
import { schemaOf } from './jsonSchema.ts'

export interface PriceCatalogDeps {
  readonly clock: Clock
  readonly endpoints: readonly Endpoint[]
  readonly terms: PaymentTerms
  readonly currentPrice: (endpoint: string) => Price | undefined
  /** Why nothing at all is sold at the moment. */
  readonly whyClosed: () => string | undefined
}

/** `data` of the price list: what would be asked for now, without asking for it. */
export function createPriceCatalog(deps: PriceCatalogDeps): () => Json {
  const { clock, endpoints, terms, currentPrice } = deps
  const parameters = new Map(endpoints.map(({ path, schema }) => [path, schemaOf(schema)]))
  return () => {
    const tokenPrice = endpoints
      .map(({ path }) => currentPrice(path)?.tokenPriceAttoUsd)
      .find((price) => price !== undefined)
    return {
      products: endpoints.map((endpoint) => ({
        ...productOf(deps, endpoint),
        parameters: parameters.get(endpoint.path) ?? {},
        example: examples[endpoint.path].parameters,
      })),
      token: {
        mint: terms.mint,
        decimals: terms.decimals,
        priceUSD: tokenPrice === undefined ? null : displayNumber(tokenPrice, tokenPriceDecimals),
        network: terms.network,
      },
      paymentWallet: terms.paymentWallet,
      asOf: isoTime(clock.nowMs()),
    }
  }
}

function productOf({ currentPrice, whyClosed }: PriceCatalogDeps, endpoint: Endpoint) {
  const { path, method, summary } = endpoint
  const price = currentPrice(path)
  // The same questions as before a quote, in the same order.
  const reason =
    whyClosed() ?? endpoint.whyUnavailable() ?? (price === undefined ? 'the token has no current price' : undefined)
  return {
    path,
    method,
    summary,
    priceUSD: displayNumber(priceList[path], usdDecimals),
    requiredTokens: price === undefined ? null : displayNumber(price.requiredBaseUnits, price.decimals),
    requiredBaseUnits: price?.requiredBaseUnits.toString() ?? null,
    available: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
  }
}
