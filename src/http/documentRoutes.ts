import { createOpenApi } from '../document/openApi.ts'
import { createPriceCatalog, type PriceCatalogDeps } from '../document/priceCatalog.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { Paywall } from '../paywall/paywall.ts'
import type { Clock } from '@tollbook/core/clock'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { readDocsPage } from './docsPage.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from './freeRoutes.ts'
import { errorAnswer, transportErrors } from './transportError.ts'

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
  const catalog = createPriceCatalog({ clock, endpoints, terms, currentPrice, whyClosed })
  const freePaths = [...besides.map(({ path }) => path), '/api/catalog', '/openapi.json', '/docs']
  const openApi = createOpenApi({
    version,
    endpoints,
    freePaths,
    transportStatuses: transportErrors,
    currentPrice,
    split,
  })
  const document = ({ host }: FreeRequest) => openApi(publicUrl ?? (host === '' ? '' : `http://${host}`))
  const file = ({ segment }: FreeRequest): FreeAnswer => {
    const found = page.files.get(segment)
    if (found === undefined) return errorAnswer('NOT_FOUND', 'this file does not exist')
    return { status: 200, headers: { 'content-type': found.contentType, 'cache-control': forEver }, body: found.body }
  }
  return [
    {
      path: '/api/catalog',
      serve: () => Promise.resolve(jsonAnswer(200, JSON.stringify({ success: true, data: catalog() }))),
    },
    { path: '/openapi.json', serve: (request) => Promise.resolve(jsonAnswer(200, JSON.stringify(document(request)))) },
    { path: '/docs', serve: () => Promise.resolve({ status: 200, headers: page.headers, body: page.html }) },
    { path: '/docs/:file', serve: (request) => Promise.resolve(file(request)) },
  ]
}

// Their addresses contain their digests.
const forEver = 'public, max-age=31536000, immutable'
