import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { PriceConfig } from '../../config/priceConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { closePart } from '../closePart.ts'
import { type ProductDelivery, type DeliveryDeps, openDelivery } from './openDelivery.ts'
import { openPrices, type PricesDeps } from './openPrices.ts'
import { openProviders, type ProvidersDeps } from './openProviders.ts'
import type { Prices } from './prices.ts'
import type { SoldProducts } from './soldProducts.ts'

/** Endpoints that make the answers, and their prices. */
export interface Products extends Omit<ProductDelivery, 'checks'>, Pick<Prices, 'currentPrice' | 'tokenPrice'> {
  readonly checks: readonly HealthCheck[]
}

export interface ProductConfig {
  readonly providers: ProviderConfig
  readonly prices: PriceConfig
  readonly delivery: DeliveryConfig
}

export interface ProductsDeps extends Pick<DeliveryDeps, 'clock' | 'log' | 'metrics'> {
  readonly sold: SoldProducts
  /** Base URL for callers. */
  readonly serviceUrl: DeliveryDeps['publicUrl']
  readonly split: PricesDeps['split']
  readonly terms: PricesDeps['terms']
  readonly lookups: ProvidersDeps['lookups']
  readonly samples: ProvidersDeps['samples']
  readonly ledger: DeliveryDeps['ledger'] & Pick<PricesDeps, 'priceLists'>
}

export async function openProducts(config: ProductConfig, deps: ProductsDeps): Promise<Products> {
  const { clock, log, metrics, sold, split, terms, lookups, samples, ledger, serviceUrl } = deps
  await using opened = new AsyncDisposableStack()
  const base = { clock, log, metrics, sold }
  const { providers, standIns } = openProviders(config.providers, {
    ...base,
    terms,
    lookups,
    samples,
    hosts: config.delivery.render,
  })
  const { priceLists } = ledger
  const pricing = { clock, log, sold, split, terms, priceLists, providers }
  const prices = opened.adopt(await openPrices(config.prices, pricing), closePart)
  const delivering = { ...base, ledger, providers, standIns, publicUrl: serviceUrl }
  const delivery = opened.adopt(await openDelivery(config.delivery, delivering), closePart)
  const stored = opened.move()
  return {
    endpoints: delivery.endpoints,
    routes: delivery.routes,
    searches: delivery.searches,
    sampled: delivery.sampled,
    currentPrice: prices.currentPrice,
    tokenPrice: prices.tokenPrice,
    checks: [...prices.checks, ...delivery.checks],
    close: () => stored.disposeAsync(),
  }
}
