import { assertPresent } from '@tollbook/core/assert'
import type { Endpoint } from '../product/endpoint.ts'
import { onSale, openEndpoint } from '../product/productDefinition.ts'
import type { ProductFacts } from '../product/productFacts.ts'
import type { ProductsFile } from './readProductsFile.ts'
import { routeProduct } from './routeProduct.ts'
import { openUpstreamClient, type UpstreamClient, type UpstreamClientDeps } from './upstreamClient.ts'

export type OpenRoutes = ReturnType<typeof openRoutes>

/** Opens one client for each upstream, without a request to it. */
export function openRoutes({ upstreams, routes }: ProductsFile, deps: UpstreamClientDeps) {
  const clients = new Map<string, UpstreamClient>()
  const products = routes.map((checked) => {
    const { upstream: name } = checked.route
    const entry = assertPresent(upstreams.get(name), 'the upstream of a checked route exists')
    const client = clients.get(name) ?? openUpstreamClient(deps, name, entry)
    clients.set(name, client)
    return routeProduct(checked, { clock: deps.clock, version: deps.version, client })
  })
  return {
    products,
    open: (sold: readonly ProductFacts[]): readonly Endpoint[] =>
      onSale(products, sold).map((product) => openEndpoint(product, undefined)),
    close(): Promise<void> {
      for (const client of clients.values()) client.close()
      return Promise.resolve()
    },
  }
}
