import type { DeliverySettings } from '../../config/deliverySettings.ts'
import type { PriceSettings } from '../../config/priceSettings.ts'
import type { ProviderSettings } from '../../config/providerSettings.ts'
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

export interface ProductSettings {
  readonly providers: ProviderSettings
  readonly prices: PriceSettings
  readonly delivery: DeliverySettings
}

export interface ProductsDeps extends Pick<DeliveryDeps, 'clock' | 'log' | 'metrics'> {
  readonly sold: SoldProducts
  /** Base URL for callers. */
  readonly serviceUrl: DeliveryDeps['publicUrl']
  readonly split: PricesDeps['split']
  readonly terms: PricesDeps['terms']
  readonly lookups: ProvidersDeps['lookups']
  readonly ledger: DeliveryDeps['ledger'] & Pick<PricesDeps, 'priceLists'>
}

export async function openProducts(settings: ProductSettings, deps: ProductsDeps): Promise<Products> {
  const { clock, log, metrics, sold, split, terms, lookups, ledger, serviceUrl } = deps
  await using opened = new AsyncDisposableStack()
  const base = { clock, log, metrics, sold }
  const { providers, standIns } = openProviders(settings.providers, {
    ...base,
    terms,
    lookups,
    hosts: settings.delivery.render,
  })
  const { priceLists } = ledger
  const pricing = { clock, log, sold, split, terms, priceLists, providers }
  const prices = opened.adopt(await openPrices(settings.prices, pricing), closePart)
  const delivering = { ...base, ledger, providers, standIns, publicUrl: serviceUrl }
  const delivery = opened.adopt(await openDelivery(settings.delivery, delivering), closePart)
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
