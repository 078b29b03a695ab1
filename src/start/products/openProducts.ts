import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { PriceConfig } from '../../config/priceConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { HealthCheck } from '../../transport/freeRoute.ts'
import { closePart } from '../closePart.ts'
import { type DeliveryDeps, openDelivery } from './openDelivery.ts'
import { openPrices, type PricesDeps } from './openPrices.ts'
import { openProviders, type ProvidersDeps } from './openProviders.ts'

export interface ProductConfig {
  readonly providers: ProviderConfig
  readonly prices: PriceConfig
  readonly delivery: DeliveryConfig
}

export interface ProductsDeps
  extends
    Pick<ProvidersDeps, 'sold' | 'lookups' | 'samples'>,
    Pick<PricesDeps, 'split' | 'terms'>,
    Omit<DeliveryDeps, 'providers' | 'standIns'> {
  readonly ledger: DeliveryDeps['ledger'] & Pick<PricesDeps, 'priceLists'>
}

export type Products = Awaited<ReturnType<typeof openProducts>>

/** Opens the endpoints that create the answers, with their prices. */
export async function openProducts(config: ProductConfig, deps: ProductsDeps) {
  await using opened = new AsyncDisposableStack()
  const { priceLists } = deps.ledger
  const all = openProviders(config.providers, { ...deps, hosts: config.delivery.render })
  const { providers } = all
  const prices = opened.adopt(await openPrices(config.prices, { ...deps, priceLists, providers }), closePart)
  const delivery = opened.adopt(await openDelivery(config.delivery, { ...deps, ...all }), closePart)
  const { currentPrice, tokenPrice } = prices
  const checks: readonly HealthCheck[] = [...prices.checks, ...delivery.checks]
  const stored = opened.move()
  return { ...delivery, currentPrice, tokenPrice, checks, close: () => stored.disposeAsync() }
}
