import { LRUCache } from 'lru-cache'
import { createOpenApi } from '../document/openApi.ts'
import { createPriceCatalog, type PriceCatalogDeps } from '../document/priceCatalog.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Paywall } from '../paywall/paywall.ts'
import type { Clock } from '@tollbook/core/clock'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { pageHeaders, readDocsPage } from './docsPage.ts'
import type { FreeRequest, FreeRoute } from './freeRoutes.ts'
import { immutable, publicAnswer, publicJson, revalidated } from './publicAnswer.ts'
import type { PublicBody } from './publicBody.ts'
import { createPublicText } from './publicDocument.ts'
import { serveStaticFile } from './staticFile.ts'
import { transportErrors } from './transportError.ts'

export interface DocumentRouteDeps {
  readonly clock: Clock
  readonly version: string
  readonly publicUrl: string | undefined
  readonly endpoints: readonly Endpoint[]
  readonly paywall: Pick<Paywall, 'currentPrice' | 'whyClosed'>
  readonly terms: PriceCatalogDeps['terms']
  readonly split: readonly SplitShare[]
  /** The other free routes. */
  readonly besides: readonly FreeRoute[]
}

/** Descriptions of the service: the price list, the OpenAPI document, and a page that shows the document. */
export async function createDocumentRoutes(deps: DocumentRouteDeps): Promise<readonly FreeRoute[]> {
  const { clock, version, endpoints, publicUrl, besides, split, terms } = deps
  const { currentPrice, whyClosed } = deps.paywall
  const page = await readDocsPage()
  const readCatalog = createPriceCatalog({ clock, endpoints, terms, currentPrice, whyClosed })
  const catalog = createPublicText()
  const freePaths = [...besides.map(({ path }) => path), '/api/catalog', '/openapi.json', '/docs']
  const openApi = createOpenApi({
    version,
    endpoints,
    freePaths,
    transportStatuses: transportErrors,
    currentPrice,
    split,
  })
  const pricesVersion = () => endpoints.map(({ path }) => currentPrice(path)?.priceList ?? 'none').join()
  const catalogVersion = () =>
    [pricesVersion(), whyClosed(), ...endpoints.map((endpoint) => endpoint.whyUnavailable())].join('\n')
  // The document depends on the price list, and without PUBLIC_URL on the address of the request.
  const documents = new LRUCache<string, ReturnType<typeof createPublicText>>({ max: addressesMax })
  const document = ({ host }: FreeRequest): Promise<PublicBody> => {
    const baseUrl = publicUrl ?? (host === '' ? '' : `http://${host}`)
    const prepare = documents.get(baseUrl) ?? createPublicText()
    documents.set(baseUrl, prepare)
    return prepare(pricesVersion(), () => JSON.stringify(openApi(baseUrl)))
  }
  return [
    {
      path: '/api/catalog',
      async serve() {
        const render = () => JSON.stringify({ success: true, data: readCatalog() })
        return publicJson(await catalog(catalogVersion(), render), revalidated)
      },
    },
    { path: '/openapi.json', serve: async (request) => publicJson(await document(request), revalidated) },
    { path: '/docs', serve: async () => publicAnswer(await page.html(), pageHeaders) },
    { path: '/docs/:file', serve: ({ segment }) => serveStaticFile(page.files, segment, immutable) },
  ]
}

// Callers reach an instance by few names. A stranger who invents others makes it render again.
const addressesMax = 4
