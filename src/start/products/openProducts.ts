import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { PriceConfig } from '../../config/priceConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { BuiltinProducts, Goods } from '../builtin/loadGoods.ts'
import type { OpenRoutes } from '../../gateway/openRoutes.ts'
import type { OpenTabs } from '../tabs/openTabs.ts'
import { closePart } from '../closePart.ts'
import { openUpstreams, type UpstreamsDeps } from '../upstreams/openUpstreams.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { marketSources } from './marketPrices.ts'
import { openPrices, type PricesDeps } from './openPrices.ts'
import { openSupply } from './openSupply.ts'

export interface ProductConfig {
  readonly providers: ProviderConfig
  readonly prices: PriceConfig
  readonly delivery: DeliveryConfig
}

type GoodsDeps = Parameters<Goods['open']>[1]

export interface ProductsDeps
  extends
    UpstreamsDeps,
    Pick<PricesDeps, 'split' | 'terms' | 'dollars'>,
    Omit<GoodsDeps, 'upstreams' | 'sold' | 'terms'> {
  readonly goods: Goods | undefined
  readonly gateway: OpenRoutes
  readonly tabs: Pick<OpenTabs, 'open'>
  readonly sold: BuiltinProducts
  readonly ledger: GoodsDeps['ledger'] & Pick<PricesDeps, 'priceLists'>
}

export type Products = Awaited<ReturnType<typeof openProducts>>

/** Opens the endpoints that create the answers, with their prices. */
export async function openProducts(config: ProductConfig, deps: ProductsDeps) {
  const { clock, log, goods, gateway, tabs, ledger } = deps
  await using opened = new AsyncDisposableStack()
  const upstreams = openUpstreams(config.providers, deps)
  const sold = deps.sold.filter(({ path, isDeposit }) => !gateway.sells(path) && isDeposit === undefined)
  const builtin = goods && opened.adopt(await goods.open(config, { ...deps, sold, upstreams }), closePart)
  const { priceLists } = ledger
  const prices = opened.adopt(await openPrices(config.prices, { ...deps, priceLists, upstreams }), closePart)
  const endpoints = [...(builtin?.endpoints ?? []), ...gateway.open(deps.sold), ...tabs.open(deps.sold)]
  const hasStandIns = builtin?.hasStandIns ?? false
  const supply = opened.adopt(await openSupply({ clock, log, endpoints, hasStandIns }), closePart)
  const { currentPrice, tokenPrice, tokenPriceAttoUsd } = prices
  const parts = opened.move()
  return {
    endpoints,
    routes: builtin?.routes ?? [],
    searches: builtin?.searches ?? [],
    currentPrice,
    tokenPrice,
    tokenPriceAttoUsd,
    checks: [...prices.checks, ...(builtin?.checks ?? []), supply.check],
    sampled: supply.sampled,
    /** Sources of the price of any mint, which ask nothing until they are used. */
    marketSources: (terms: PaymentTerms) => marketSources(upstreams, terms),
    close: () => parts.disposeAsync(),
  }
}
