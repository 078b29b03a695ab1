import type { Endpoint } from '../product/endpoint.ts'
import type { FreeSearch } from '../product/freeSearch.ts'
import type { Price } from '@tollbook/core/quote'
import { isUrl, type Seller } from '../product/seller.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import { type AcceptedDollar, shownDollar } from './acceptedDollars.ts'
import type { DescribedRail, OfferedPrice } from './discovery.ts'
import { errorResponses, errorSchemas } from './errorResponses.ts'
import { freeOperations, freeOperationsAt, searchOperation } from './freeOperations.ts'
import { introductionOf } from './introduction.ts'
import type { JsonObject } from './jsonSchema.ts'
import {
  mountedOperation,
  type DocumentEndpoint,
  nameEndpoints,
  paidOperation,
  saleSchemas,
  schemasOf,
} from './paidOperation.ts'
import { someWallet } from './samples.ts'
import { withTabPrices } from './usePrices.ts'
import { verdictsOf } from './verdicts.ts'

export interface OpenApiDeps {
  readonly version: string
  readonly endpoints: readonly Endpoint[]
  readonly searches: readonly FreeSearch[]
  /** Paths of the free routes, in the syntax of the router. */
  readonly freePaths: readonly string[]
  /** HTTP status by error code, for requests that are refused before their product is known. */
  readonly transportStatuses: Readonly<Record<string, number>>
  readonly currentPrice: (endpoint: string) => Price | undefined
  readonly split: readonly SplitShare[]
  readonly rails: readonly DescribedRail[]
  readonly seller: Seller
  readonly dollars: readonly AcceptedDollar[]
  readonly mint: string
}

export interface BaseUrls {
  /** Absolute URL of the service, for commands and programs. */
  readonly baseUrl: string
  /** Prefix of links. Empty: links are relative to the host of the document. */
  readonly linkBase: string
}

/**
 * Returns a function that creates the OpenAPI document. It has the schemas that validate requests, so that it shows the
 * same rules.
 */
export function createOpenApi(deps: OpenApiDeps): (urls: BaseUrls) => JsonObject {
  const verdicts = verdictsOf(deps.transportStatuses)
  const products = nameEndpoints(deps.endpoints)
  const frame = frameOf(deps)
  const searchOperations = new Map(deps.searches.map((search) => [search.path, searchOperation(search)]))
  const free = deps.freePaths.flatMap((path) => {
    const operation = freeOperations[path] ?? searchOperations.get(path)
    return operation === undefined ? [] : [[templateOf(path), freeOperationsAt(path, operation)] as const]
  })
  const components = {
    schemas: {
      ...errorSchemas(),
      ...saleSchemas(),
      ...Object.fromEntries(products.flatMap((endpoint) => Object.entries(schemasOf(endpoint)))),
    },
    responses: errorResponses(verdicts),
    parameters,
    headers,
  }
  const { rails, mint, dollars } = deps
  const sold = nameEndpoints(withTabPrices(deps.endpoints)).map((endpoint) => ({
    endpoint,
    operationFor: paidOperation(endpoint, { verdicts, rails, mint, dollars }),
  }))
  const unpriced = { mint, dollars, requiredBaseUnits: undefined }
  const mounted = rails.flatMap((rail) => mountedPaths(products, rail, unpriced))
  return ({ baseUrl, linkBase }) => {
    const paid = sold.map(({ endpoint: { path, method }, operationFor }) => {
      const operation = operationFor({ baseUrl, price: deps.currentPrice(path) })
      return [path, { [method.toLowerCase()]: operation }] as const
    })
    const paths = { ...Object.fromEntries(paid), ...Object.fromEntries(mounted), ...Object.fromEntries(free) }
    return { ...frame, ...linksFrom(linkBase), paths, components }
  }
}

function mountedPaths(endpoints: readonly DocumentEndpoint[], rail: DescribedRail, price: OfferedPrice) {
  const mount = rail.description?.mount
  if (mount === undefined) return []
  return endpoints.map((endpoint) => {
    const { path, method } = endpoint
    return [`${mount}${path}`, { [method.toLowerCase()]: mountedOperation(endpoint, rail, price) }] as const
  })
}

/** Returns the links to documents for agents and indexers (x402scan discovery, MPP discovery). */
function linksFrom(linkBase: string): JsonObject {
  const llms = `${linkBase}/llms.txt`
  return {
    'x-discovery': { llmsTxtUrl: llms },
    'x-service-info': {
      categories: ['data', 'tools'],
      docs: { llms, apiReference: `${linkBase}/docs`, homepage: `${linkBase}/` },
      mcp: `${linkBase}/mcp`,
    },
  }
}

/** Converts router paths such as `/artifacts/:name` and `/tile/*path` to OpenAPI templates. */
function templateOf(path: string): string {
  return path.replaceAll(/[:*](\w+)/g, '{$1}')
}

function frameOf({ version, transportStatuses, split, rails, seller, dollars, endpoints }: OpenApiDeps): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: seller.name,
      version,
      summary: seller.description,
      description: introductionOf(verdictsOf(transportStatuses), { split, dollars, endpoints }),
      ...(seller.contact === undefined ? {} : { contact: contactOf(seller.contact) }),
      ...(seller.termsUrl === undefined ? {} : { termsOfService: seller.termsUrl }),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(dollars.length === 0 ? {} : { 'x-dollars': dollars.map(shownDollar) }),
    // Use a relative URL, because it is correct behind every host and proxy.
    servers: [{ url: '/' }],
    tags: [
      { name: 'Paid', description: 'The price of a request is in its operation.' },
      ...rails.flatMap(mountTag),
      { name: 'Free', description: 'No wallet, no proof.' },
    ],
    // Declare no security scheme, because requests need no API key. Wallet and proof are parameters of each request.
    security: [],
  }
}

function contactOf(contact: string): JsonObject {
  return isUrl(contact) ? { url: contact } : { email: contact }
}

function mountTag({ name, description }: DescribedRail): readonly JsonObject[] {
  if (description?.mount === undefined) return []
  const { mount, protocol } = description
  return [{ name, description: `The same products below \`${mount}\`, for clients of ${protocol}: no wallet header.` }]
}

const parameters: JsonObject = {
  WalletAddress: {
    name: 'x-wallet-address',
    in: 'header',
    required: true,
    description:
      'The Solana address that pays: base58 of 32 bytes. Programs, the mint and the payment wallet are refused.',
    schema: { type: 'string', minLength: 32, maxLength: 44, pattern: '^[1-9A-HJ-NP-Za-km-z]+$' },
    example: someWallet,
  },
  PaymentProof: {
    name: 'x-payment-proof',
    in: 'header',
    description: 'The proof of the payment, in base64. Without it the answer is a quote.',
    schema: { type: 'string', maxLength: 4_096, pattern: '^[A-Za-z0-9+/]+={0,2}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'One for each proof: if the answer is lost, the same request returns it again for 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
}

const headers: JsonObject = {
  RequestId: { description: 'Quote it when you ask us about a request.', schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds after which the request may succeed; not with every code.',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: { description: 'The methods of this path.', schema: { type: 'string' } },
  IdempotentReplay: {
    description:
      '`true` for a stored answer: one of the last 24 hours under its `Idempotency-Key`, or one that is not known to have been sent.',
    schema: { type: 'string', const: 'true' },
  },
  Returned: { description: 'As the provider sent it, if it did.', schema: { type: 'string' } },
  SampleData: { description: '`true` for sample data of local mode.', schema: { type: 'string', const: 'true' } },
}
