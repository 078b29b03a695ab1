import type { Endpoint } from '../product/endpoint.ts'
import type { Price } from '@tollbook/core/quote'
import type { PaymentTerms } from '../payment/settlement.ts'
import { displayUsd } from '../pricing/priceList.ts'
import type { TokenNames } from '../pricing/tokenNames.ts'
import { tokenPriceDecimals } from '../pricing/tokenPrice.ts'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { endpointOf } from '@tollbook/core/endpointName'
import { displayNumber } from '@tollbook/core/money'
import { describeSeller, type Seller } from '../product/seller.ts'
import type { FreeSearch } from '../product/freeSearch.ts'
import { type AcceptedDollar, dollarsMember } from './acceptedDollars.ts'
import { schemaOf } from './jsonSchema.ts'
import { useMember, withTabPrices } from './usePrices.ts'

export interface PriceCatalogDeps {
  readonly clock: Clock
  readonly endpoints: readonly Endpoint[]
  readonly searches: readonly FreeSearch[]
  readonly terms: PaymentTerms
  readonly token: TokenNames
  readonly seller: Seller
  readonly dollars: readonly AcceptedDollar[]
  readonly currentPrice: (endpoint: string) => Price | undefined
  /** Returns why nothing is for sale at the moment. Undefined while the service sells. */
  readonly whyClosed: () => string | undefined
}

export type PriceCatalog = ReturnType<ReturnType<typeof createPriceCatalog>>
export type CatalogProduct = PriceCatalog['products'][number]

/** Returns a function that creates the price list. It creates no quotes. */
export function createPriceCatalog(deps: PriceCatalogDeps) {
  const { clock, searches, terms, currentPrice } = deps
  const endpoints = withTabPrices(deps.endpoints)
  const parameters = new Map(endpoints.map(({ path, parameters: schema }) => [path, schemaOf(schema)]))
  return () => {
    const tokenPrice = endpoints
      .map(({ path }) => currentPrice(path)?.tokenPriceAttoUsd)
      .find((price) => price !== undefined)
    return {
      products: endpoints.map((endpoint) => ({
        ...productOf(deps, endpoint),
        parameters: parameters.get(endpoint.path) ?? {},
        example: endpoint.example.order,
      })),
      searches: searches.map(({ path, summary, example }) => ({ path, summary, example })),
      token: {
        symbol: deps.token.symbol,
        mint: terms.mint,
        decimals: terms.decimals,
        priceUSD: tokenPrice === undefined ? null : displayNumber(tokenPrice, tokenPriceDecimals),
        network: terms.network,
        sourceUrl: deps.token.sourceUrl ?? null,
      },
      ...dollarsMember(deps.dollars),
      paymentWallet: terms.paymentWallet,
      service: describeSeller(deps.seller),
      asOf: isoTime(clock.nowMs()),
    }
  }
}

function productOf({ currentPrice, whyClosed }: PriceCatalogDeps, endpoint: Endpoint) {
  const { path, method, summary, variants = [], usedUnit } = endpoint
  const price = currentPrice(path)
  // Use the checks of a quote in their order, except `whyNoQuotes` and `whyExposed`.
  const reason =
    whyClosed() ?? endpoint.whyUnavailable() ?? (price === undefined ? 'the token has no current price' : undefined)
  return {
    path,
    method,
    summary,
    priceUSD: displayUsd(endpoint),
    ...inTokens(price),
    ...useMember(endpoint, usedUnit),
    ...(variants.length === 0
      ? {}
      : {
          models: variants.map((variant) => ({
            model: variant.name,
            priceUSD: displayUsd(variant),
            ...inTokens(currentPrice(endpointOf(path, variant.name))),
            ...useMember(variant, usedUnit),
          })),
        }),
    available: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
  }
}

function inTokens(price: Price | undefined) {
  return {
    requiredTokens: price === undefined ? null : displayNumber(price.requiredBaseUnits, price.decimals),
    requiredBaseUnits: price?.requiredBaseUnits.toString() ?? null,
  }
}
