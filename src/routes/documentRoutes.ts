import type { AcceptedDollar } from '../document/acceptedDollars.ts'
import { type DiscoveryDeps, llmsText, x402Resources } from '../document/discovery.ts'
import { landingPage } from '../document/landingPage.ts'
import { createOpenApi } from '../document/openApi.ts'
import { referencePage } from '../document/referencePage.ts'
import { createPriceCatalog, type PriceCatalogDeps } from '../document/priceCatalog.ts'
import { serverCard, serverCardType, serverCatalog } from '../document/serverCard.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { FreeSearch } from '../product/freeSearch.ts'
import { defaultSeller, type Seller } from '../product/seller.ts'
import type { Sales } from '../paywall/sales.ts'
import type { Clock } from '@tollbook/core/clock'
import type { TokenNames } from '../pricing/tokenNames.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { pageHeaders } from '../pages/pageHeaders.ts'
import type { FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { publicAnswer, publicJson, revalidated } from '../transport/publicAnswer.ts'
import type { PublicBody } from '../transport/publicBody.ts'
import { createPublicText } from '../transport/publicDocument.ts'
import type { ServiceAddress } from '../transport/serviceAddress.ts'
import { pathNotFound, transportErrors } from '../transport/transportError.ts'
import type { WalletPort } from './payRoutes.ts'

export interface DocumentRouteDeps {
  readonly clock: Clock
  readonly version: string
  readonly address: ServiceAddress
  readonly endpoints: readonly Endpoint[]
  readonly searches: readonly FreeSearch[]
  readonly sales: Pick<Sales, 'currentPrice' | 'whyClosed' | 'rails'>
  readonly terms: PriceCatalogDeps['terms']
  readonly split: readonly SplitShare[]
  readonly token: TokenNames
  readonly seller: Seller
  readonly dollars: readonly AcceptedDollar[]
  readonly wallets: Pick<WalletPort, 'fund'>
  /** The other free routes. The documents describe those that have an entry in `freeOperations` or are searches. */
  readonly otherRoutes: readonly FreeRoute[]
}

export function createDocumentRoutes(deps: DocumentRouteDeps): readonly FreeRoute[] {
  const { clock, version, endpoints, searches, address, otherRoutes, split, token, terms, seller, dollars } = deps
  const { currentPrice, whyClosed, rails } = deps.sales
  const shown = { endpoints, searches, token, terms, seller, dollars }
  const readCatalog = createPriceCatalog({ ...shown, clock, currentPrice, whyClosed })
  const catalog = createPublicText()
  const discovery = createDiscoveryRoutes({ ...shown, version, address, rails, split })
  const freePaths = [...otherRoutes, ...discovery].map(({ path }) => path)
  const openApi = createOpenApi({
    version,
    endpoints,
    searches,
    freePaths: [...freePaths, '/api/catalog', '/openapi.json', '/docs'],
    transportStatuses: transportErrors,
    currentPrice,
    split,
    rails,
    seller,
    dollars,
    mint: terms.mint,
  })
  const pricesVersion = () => endpoints.map(({ path }) => currentPrice(path)?.priceList ?? 'none').join()
  const catalogVersion = () =>
    [pricesVersion(), whyClosed(), ...endpoints.map((endpoint) => endpoint.whyUnavailable())].join('\n')
  // Compare the seller's name with the default, because the page of local mode shows the commands of this repository. A
  // service with another name is probably not run from this repository.
  const isLocal = deps.wallets.fund !== undefined && seller.name === defaultSeller.name
  const baseUrls = () => ({ baseUrl: address.url(), linkBase: address.linkBase() })
  const document = createText(pricesVersion, () => JSON.stringify(openApi(baseUrls())))
  const reference = createText(pricesVersion, () => referencePage(openApi(baseUrls()), endpoints))
  const home = createText(catalogVersion, () =>
    landingPage({ ...baseUrls(), endpoints, catalog: readCatalog(), split, token, seller, rails, isLocal }),
  )
  return [
    ...discovery,
    { path: '/', serve: (request) => serveHome(request, home) },
    {
      path: '/api/catalog',
      async serve() {
        const render = () => JSON.stringify({ success: true, data: readCatalog() })
        return publicJson(await catalog(catalogVersion(), render), revalidated)
      },
    },
    { path: '/openapi.json', serve: async () => publicJson(await document(), revalidated) },
    { path: '/docs', serve: async () => publicAnswer(await reference(), pageHeaders) },
  ]
}

/**
 * Returns a function that renders the text only when its version changes, because the text does not depend on the
 * request.
 */
function createText(version: () => string, render: () => string): () => Promise<PublicBody> {
  const prepare = createPublicText()
  return () => prepare(version(), render)
}

/**
 * Creates the routes of documents that the price of the token does not affect. Their texts are valid until the address
 * changes.
 */
function createDiscoveryRoutes(
  deps: DiscoveryDeps & Pick<DocumentRouteDeps, 'address' | 'version'>,
): readonly FreeRoute[] {
  const { address, version, seller } = deps
  const resources = createText(address.url, () => JSON.stringify(x402Resources(deps, address.url())))
  const card = createText(address.url, () => JSON.stringify(serverCard(version, address.url(), seller)))
  const catalog = createText(address.url, () => JSON.stringify(serverCatalog(address.url(), seller)))
  const cardHeaders = { 'content-type': serverCardType, 'cache-control': 'public, max-age=3600' }
  const serveCard = async () => publicAnswer(await card(), cardHeaders)
  const llms = createText(address.linkBase, () => llmsText(deps, address.linkBase()))
  const text = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': revalidated }
  return [
    { path: '/mcp/server-card', serve: serveCard },
    { path: '/.well-known/mcp/server-card.json', serve: serveCard },
    { path: '/.well-known/mcp/catalog.json', serve: async () => publicJson(await catalog(), revalidated) },
    { path: '/.well-known/x402', serve: async () => publicJson(await resources(), revalidated) },
    { path: '/llms.txt', serve: async () => publicAnswer(await llms(), text) },
  ]
}

/** Serves the home page to browsers. Programs receive a 404, as for every unknown path. */
async function serveHome(request: FreeRequest, page: () => Promise<PublicBody>) {
  const vary = { vary: 'accept' }
  if (request.prefersHtml === true) return publicAnswer(await page(), { ...pageHeaders, ...vary })
  const refused = pathNotFound()
  return { ...refused, headers: { ...refused.headers, ...vary } }
}
