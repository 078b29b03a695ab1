import type { Address } from '@tollbook/core/address'
import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { PriceConfig } from '../../config/priceConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { Chain } from '../../chain/openChain.ts'
import type { Goods } from '../builtin/loadGoods.ts'
import type { OpenRoutes } from '../../gateway/openRoutes.ts'
import { onSale } from '../../product/productDefinition.ts'
import type { ProductFacts } from '../../product/productFacts.ts'
import type { OpenTabs } from '../tabs/openTabs.ts'
import { closePart } from '../closePart.ts'
import { openUpstreams } from '../upstreams/openUpstreams.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { marketSources } from './marketPrices.ts'
import { openPrices, type PricesDeps } from './openPrices.ts'
import { openSupply } from './openSupply.ts'
import type { Prices } from './prices.ts'

export interface ProductConfig {
  readonly providers: ProviderConfig
  readonly prices: PriceConfig
  readonly products: DeliveryConfig
  readonly catalog: Pick<PricesDeps, 'split'>
}

type GoodsDeps = Parameters<Goods['open']>[1]

export interface ProductsDeps extends Omit<GoodsDeps, 'upstreams' | 'sold' | 'terms'> {
  readonly chain: Pick<Chain, 'terms' | 'dollars'>
  readonly goods: Goods | undefined
  readonly gateway: Pick<OpenRoutes, 'open'>
  readonly tabs: Pick<OpenTabs, 'open'>
  readonly sold: readonly ProductFacts[]
  readonly ledger: GoodsDeps['ledger'] & Pick<PricesDeps, 'priceLists'>
}

export type Products = Awaited<ReturnType<typeof openProducts>>

export type Offers = Pick<ProductsDeps, 'gateway' | 'sold'>

export async function openProducts(config: ProductConfig, deps: ProductsDeps) {
  const { chain, goods } = deps
  const { providers, products: delivery } = config
  await using opened = new AsyncDisposableStack()
  const upstreams = openUpstreams(providers, deps)
  const forGoods = { ...deps, terms: chain.terms, sold: onSale(goods?.products ?? [], deps.sold), upstreams }
  const builtin = goods && opened.adopt(await goods.open({ providers, delivery }, forGoods), closePart)
  const open = (offers: Offers, earlier?: Prices) =>
    openOffers(config, { ...deps, ...offers, upstreams, builtin, earlier })
  let current = await open(deps)
  opened.defer(() => current.close())
  // Wrap each check, so that it uses the current products. The names of the checks never change, because the
  // configuration decides which checks exist.
  const checks = current.checks.map((check) => {
    const now = () => current.checks.find(({ name }) => name === check.name) ?? check
    return { ...check, problem: () => now().problem(), ...(check.facts && { facts: () => now().facts?.() ?? null }) }
  })
  const parts = opened.move()
  return {
    endpoints: () => current.endpoints,
    routes: builtin?.routes ?? [],
    searches: builtin?.searches ?? [],
    currentPrice: (endpoint: string, mint?: Address) => current.prices.currentPrice(endpoint, mint),
    tokenPrice: () => current.prices.tokenPrice(),
    tokenPriceAttoUsd: () => current.prices.tokenPriceAttoUsd(),
    checks: [...checks, ...(builtin?.checks ?? [])],
    sampled: () => current.supply.sampled(),
    /** The sources send no request until they are used. */
    marketSources: (terms: PaymentTerms) => marketSources(upstreams, terms),
    /**
     * Publishes the prices of the new products, then sells these products. `serve` makes them public. If `serve` fails,
     * the earlier products stay on sale. Requests in progress keep their product.
     */
    async replace(offers: Offers, serve: () => Promise<void>): Promise<void> {
      const before = current
      current = await open(offers, before.prices)
      try {
        await serve()
      } catch (error) {
        const failed = current
        current = before
        await failed.close()
        throw error
      }
      await before.close()
    },
    close: () => parts.disposeAsync(),
  }
}

interface OffersDeps extends ProductsDeps {
  readonly upstreams: ReturnType<typeof openUpstreams>
  readonly builtin: Awaited<ReturnType<Goods['open']>> | undefined
  readonly earlier: Prices | undefined
}

async function openOffers({ prices: config, catalog }: ProductConfig, deps: OffersDeps) {
  const { clock, log, upstreams, chain, ledger, sold, builtin, gateway, tabs, earlier } = deps
  const { terms, dollars } = chain
  const { priceLists } = ledger
  const { split } = catalog
  await using opened = new AsyncDisposableStack()
  const pricing = { clock, log, upstreams, terms, dollars, priceLists, sold, split, earlier }
  const prices = opened.adopt(await openPrices(config, pricing), closePart)
  const endpoints = [...(builtin?.endpoints ?? []), ...gateway.open(sold), ...tabs.open(sold, prices)]
  const hasStandIns = builtin?.hasStandIns ?? false
  const supply = opened.adopt(await openSupply({ clock, log, endpoints, hasStandIns }), closePart)
  const parts = opened.move()
  return { endpoints, prices, supply, checks: [...prices.checks, supply.check], close: () => parts.disposeAsync() }
}
