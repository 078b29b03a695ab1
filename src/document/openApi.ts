import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Price } from '@tollbook/core/quote'
import { errorResponses, errorSchemas } from './errorResponses.ts'
import { freeOperation, freeOperations } from './freeOperations.ts'
import { introductionOf } from './introduction.ts'
import type { JsonObject } from './jsonSchema.ts'
import { paidOperation, saleSchemas, schemasOf } from './paidOperation.ts'
import { someWallet } from './samples.ts'
import { verdictsOf } from './verdicts.ts'

export interface OpenApiDeps {
  readonly version: string
  readonly endpoints: readonly Endpoint[]
  /** The free routes there are, as the router knows them. */
  readonly freePaths: readonly string[]
  /** Codes of what is refused before anybody asks what is bought. */
  readonly transportStatuses: Readonly<Record<string, number>>
  readonly currentPrice: (endpoint: string) => Price | undefined
}

/** OpenAPI 3.1 of the service that runs, made of the schemas that validate. Samples are for the address it is asked at. */
export function createOpenApi(deps: OpenApiDeps): (baseUrl: string) => JsonObject {
  const verdicts = verdictsOf(deps.transportStatuses)
  const frame = frameOf(deps)
  const free = deps.freePaths.flatMap((path) => {
    const operation = freeOperations[path]
    return operation === undefined ? [] : [[templateOf(path), { get: freeOperation(path, operation) }] as const]
  })
  const components = {
    schemas: {
      ...errorSchemas(),
      ...saleSchemas(),
      ...Object.fromEntries(deps.endpoints.flatMap((endpoint) => Object.entries(schemasOf(endpoint)))),
    },
    responses: errorResponses(verdicts),
    parameters,
    headers,
  }
  const sold = deps.endpoints.map((endpoint) => ({ endpoint, operationFor: paidOperation(endpoint, verdicts) }))
  return (baseUrl) => {
    const paid = sold.map(({ endpoint: { path, method }, operationFor }) => {
      const operation = operationFor({ baseUrl, price: deps.currentPrice(path) })
      return [path, { [method.toLowerCase()]: operation }] as const
    })
    return { ...frame, paths: { ...Object.fromEntries(paid), ...Object.fromEntries(free) }, components }
  }
}

/** `/artifacts/:name` and `/tile/*path` as OpenAPI writes them. */
function templateOf(path: string): string {
  return path.replaceAll(/[:*](\w+)/g, '{$1}')
}

function frameOf({ version, transportStatuses }: OpenApiDeps): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tollbook',
      version,
      summary: 'Data and tools by the request, paid with a token on Solana',
      description: introductionOf(verdictsOf(transportStatuses)),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Paid', description: 'Each request costs what its operation says.' },
      { name: 'Free', description: 'No wallet, no proof.' },
    ],
    // There are no keys: the wallet and the proof are parameters of each request.
    security: [],
  }
}

const parameters: JsonObject = {
  WalletAddress: {
    name: 'x-wallet-address',
    in: 'header',
    required: true,
    description: 'The Solana address that pays: base58 of 32 bytes. No program, not the mint, not the payment wallet.',
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
    description: 'One for each proof: if the answer gets lost, the same request gets it again within 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
}

const headers: JsonObject = {
  RequestId: { description: 'Quote it when you ask us about a request.', schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds after which it is worth asking again; not with every code.',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: { description: 'The methods there are.', schema: { type: 'string' } },
  IdempotentReplay: {
    description: '`true` for an answer that was delivered before.',
    schema: { type: 'string', const: 'true' },
  },
  SampleData: { description: '`true` for sample data of local mode.', schema: { type: 'string', const: 'true' } },
}
