import type { PriceSettings } from '../../config/priceSettings.ts'
import { openFixedPrices } from './fixedPrices.ts'
import { openMarketPrices } from './marketPrices.ts'
import type { Prices, PricesDeps } from './prices.ts'

/** Prices by the operator's token price, or by the markets'. */
export async function openPrices(settings: PriceSettings, deps: PricesDeps): Promise<Prices> {
  return settings.source === 'fixed'
    ? openFixedPrices(settings.tokenPriceAttoUsd, deps)
    : openMarketPrices(settings.market, deps)
}
