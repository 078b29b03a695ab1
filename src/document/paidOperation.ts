import type { Endpoint } from '../product/endpoint.ts'
import type { AcceptedDollar } from './acceptedDollars.ts'
import { hasNoBody, requestOf, type StreamFacts } from '../product/productFacts.ts'
import type { Price } from '@tollbook/core/quote'
import { receiptBody, saleBody } from '@tollbook/core/wire'
import { displayUsd } from '../pricing/priceList.ts'
import { segmentNames } from '@tollbook/core/pathTemplate'
import { displayNumber } from '@tollbook/core/money'
import { shownUse, useExtension } from './usePrices.ts'
import { shownVariants } from './variantPrices.ts'
import { type DescribedRail, type OfferedPrice, paymentInfo } from './discovery.ts'
import { type JsonObject, refTo, schemaOf } from './jsonSchema.ts'
import { programSamples, type SampleFacts } from './programSamples.ts'
import { samplesOf, someWallet } from './samples.ts'
import { listedParameters, withoutMembers } from './listedParameters.ts'
import type { ErrorAdvice } from './verdicts.ts'

interface DocumentName {
  /** Name in the OpenAPI document, which no other product has. */
  readonly documentName: string
}

export type DocumentEndpoint = Endpoint & DocumentName

/**
 * Names each product by the words of its path. If earlier paths have the same words, as with `/a/b` and `/a-b`, the
 * name gets a number.
 */
export function nameEndpoints<E extends Pick<Endpoint, 'path'>>(
  endpoints: readonly E[],
): readonly (E & DocumentName)[] {
  const counts = new Map<string, number>()
  return endpoints.map((endpoint) => {
    const words = wordsOf(endpoint.path)
    const count = (counts.get(words) ?? 0) + 1
    counts.set(words, count)
    // No name is used twice, because words have no underscore.
    return { ...endpoint, documentName: count === 1 ? words : `${words}_${count}` }
  })
}

/** Returns the words of the path, such as `Crypto` for `/api/data/crypto`. */
function wordsOf(path: string): string {
  const words = path.replace(/^\/api\/(?:ai|data|tools)(?=\/)/, '').match(/[A-Za-z0-9]+/g) ?? []
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

export function orderSchemaPath({ documentName }: DocumentName): string {
  return `/openapi.json#/components/schemas/${documentName}Order`
}

export const saleSchemas = (): JsonObject => ({ Receipt: schemaOf(receiptBody), Meta: schemaOf(saleBody.shape.meta) })

export function schemasOf(endpoint: DocumentEndpoint): JsonObject {
  const name = endpoint.documentName
  const sale = {
    type: 'object',
    properties: {
      success: { const: true },
      data: refTo('schemas', `${name}Data`),
      receipt: refTo('schemas', 'Receipt'),
      inclusionProof: {
        type: 'string',
        description: 'Address of the proof that the ledger holds this sale, available within a second.',
      },
      meta: refTo('schemas', 'Meta'),
    },
    required: ['success', 'data', 'receipt', 'inclusionProof', 'meta'],
  }
  return {
    [`${name}Order`]: schemaOf(endpoint.parameters),
    [`${name}Data`]: schemaOf(endpoint.answer),
    ...(endpoint.stream === undefined ? { [`${name}Sale`]: sale } : {}),
  }
}

export interface OperationFacts extends Omit<SampleFacts, 'baseUrl'> {
  readonly dollars: readonly AcceptedDollar[]
  readonly verdicts: readonly ErrorAdvice[]
}

export interface OperationPrice {
  readonly baseUrl: string
  /** Price in the token. Undefined while the token has no price. */
  readonly price: Price | undefined
}

/**
 * Returns a function that creates the OpenAPI operation of a product. The common part is prepared once, and completed
 * for each address and price.
 */
export function paidOperation(
  endpoint: DocumentEndpoint,
  facts: OperationFacts,
): (offer: OperationPrice) => JsonObject {
  const { method, summary } = endpoint
  const head = { operationId: `${method.toLowerCase()}${endpoint.documentName}`, tags: ['Paid'], summary }
  const rest = {
    ...inputOf(endpoint, parameterNames),
    responses: { '200': saleResponse(endpoint), ...refusalsOf(endpoint, facts.verdicts) },
  }
  return (offer) => ({ ...head, ...offerOf(endpoint, facts, offer), ...rest })
}

/**
 * Creates the operation of the product below the mount of a rail, where a caller without a payment receives a 402.
 * Indexers read the price there.
 */
export function mountedOperation(endpoint: DocumentEndpoint, rail: DescribedRail, price: OfferedPrice): JsonObject {
  const { method, summary } = endpoint
  return {
    operationId: `${rail.name}${method.charAt(0)}${method.slice(1).toLowerCase()}${endpoint.documentName}`,
    tags: [rail.name],
    summary: `${summary} ($${displayUsd(endpoint)})`,
    'x-payment-info': paymentInfo(endpoint, [rail], price),
    ...inputOf(endpoint, ['IdempotencyKey']),
    responses: {
      '200': saleResponse(endpoint),
      ...Object.fromEntries([400, 402, 503].map((status) => [String(status), refTo('responses', `Error${status}`)])),
    },
  }
}

function offerOf(endpoint: Endpoint, facts: OperationFacts, { baseUrl, price }: OperationPrice): JsonObject {
  const { summary } = endpoint
  const priceUsd = displayUsd(endpoint)
  const { curl, pay } = samplesOf(endpoint, { baseUrl, mint: facts.mint })
  const tokens = price === undefined ? undefined : displayNumber(price.requiredBaseUnits, price.decimals)
  const now = tokens === undefined ? '' : `, now ${tokens} tokens`
  const prices = `**$${priceUsd}** a request${now}${shownVariants(endpoint)}${shownUse(endpoint)}`
  return {
    summary: `${summary} ($${priceUsd})`,
    description: `${prices}. Without \`x-payment-proof\` the answer is a 402 with the quote.`,
    'x-price-usd': priceUsd,
    ...(tokens === undefined ? {} : { 'x-price-tokens': tokens }),
    ...useExtension(endpoint),
    'x-payment-info': paymentInfo(endpoint, facts.rails, {
      mint: facts.mint,
      dollars: facts.dollars,
      requiredBaseUnits: price?.requiredBaseUnits,
    }),
    'x-codeSamples': [
      { lang: 'Shell', label: 'Ask for the price', source: curl },
      ...(pay === undefined ? [] : [{ lang: 'Shell', label: 'Pay from a shell', source: pay }]),
      ...programSamples(endpoint, { ...facts, baseUrl }).map((each) => ({ ...each })),
    ],
  }
}

const parameterNames = ['WalletAddress', 'PaymentProof', 'IdempotencyKey'] as const

function inputOf(endpoint: DocumentEndpoint, names: readonly (typeof parameterNames)[number][]): JsonObject {
  const { path, method, parameters, rawBody, bodyBytesMax, example, passedHeaders = [] } = endpoint
  const headers = [...names.map((name) => refTo('parameters', name)), ...passedHeaders.map(passedHeader)]
  const inPath = segmentNames(path)
  const listed = listedParameters(parameters, { inPath, example: example.order })
  if (hasNoBody(method)) return { parameters: [...listed, ...headers] }
  const required = true
  if (rawBody !== undefined) {
    const content = Object.fromEntries(rawBody.contentTypes.map((type) => [type, {}]))
    const requestBody = { required, description: `At most ${bodyBytesMax} bytes.`, content }
    return { parameters: [...listed, ...headers], requestBody }
  }
  const schema =
    inPath.length === 0
      ? refTo('schemas', `${endpoint.documentName}Order`)
      : withoutMembers(schemaOf(parameters), inPath)
  return {
    parameters: [...listed.filter(({ in: place }) => place === 'path'), ...headers],
    requestBody: {
      required,
      description: `At most ${bodyBytesMax} bytes of UTF-8; no key twice.`,
      content: { 'application/json': { schema, example: requestOf(endpoint, example.order).body ?? {} } },
    },
  }
}

function passedHeader(name: string): JsonObject {
  const description = 'Passed on, and a part of the order: a payment buys the answer to this value only.'
  return { name, in: 'header', description, schema: { type: 'string' } }
}

function saleResponse(endpoint: DocumentEndpoint): JsonObject {
  const { returnedHeaders = [] } = endpoint
  const headers = {
    'x-request-id': refTo('headers', 'RequestId'),
    'idempotent-replay': refTo('headers', 'IdempotentReplay'),
    'x-sample-data': refTo('headers', 'SampleData'),
    ...Object.fromEntries(returnedHeaders.map((name) => [name, refTo('headers', 'Returned')])),
  }
  const { stream, streamOnDemand } = endpoint
  const response = stream === undefined ? wholeResponse(endpoint) : streamedResponse(endpoint, stream)
  return { ...response, headers, content: { ...response.content, ...onDemand(streamOnDemand) } }
}

function streamedResponse(endpoint: DocumentEndpoint, { contentType }: StreamFacts) {
  const schema = refTo('schemas', `${endpoint.documentName}Data`)
  return {
    description:
      'Paid. The body has no envelope: its receipt is in `tollbook-receipt`, a header, or a trailer of a stream.',
    content: { [contentType]: { schema, example: endpoint.example.answer } },
  }
}

function onDemand(stream: StreamFacts | undefined): JsonObject {
  if (stream === undefined) return {}
  const description = 'With `stream: true`: events while the answer is made. The last one is `receipt`.'
  return { [stream.contentType]: { schema: { type: 'string', description } } }
}

function wholeResponse(endpoint: DocumentEndpoint) {
  const value = {
    success: true,
    data: endpoint.example.answer,
    receipt: { ...receiptExample, endpoint: endpoint.path },
    inclusionProof: '/api/ledger/inclusion/8',
    meta: metaExample,
  }
  const schema = refTo('schemas', `${endpoint.documentName}Sale`)
  return {
    description: 'Paid and delivered. The delivery is in the ledger before this answer is sent.',
    content: { 'application/json': { schema, example: value } },
  }
}

/**
 * Returns the refusals of a product without statuses that it cannot return. They are 405 and 416, 413 and 415 without a
 * body, and 403 without a target URL.
 */
function refusalsOf({ method, parameters }: Endpoint, verdicts: readonly ErrorAdvice[]): JsonObject {
  const hasTarget = JSON.stringify(schemaOf(parameters)).includes('"url":')
  const impossible = new Set([405, 416, ...(hasNoBody(method) ? [413, 415] : []), ...(hasTarget ? [] : [403])])
  const statuses = new Set(verdicts.map(({ status }) => status).filter((status) => !impossible.has(status)))
  return Object.fromEntries(
    [...statuses].sort((a, b) => a - b).map((status) => [String(status), refTo('responses', `Error${status}`)]),
  )
}

const metaExample = { source: 'tollbook', asOf: '2026-11-21T12:00:00.000Z', cached: false }

// Example with the amounts of a product for half a cent, if one token costs a tenth of a cent.
const receiptExample = {
  id: 'receipt_…',
  wallet: someWallet,
  quoteId: 'quote_…',
  signature: '…',
  slot: 1,
  blockTime: '2026-11-21T12:00:00.000Z',
  requiredTokens: 5,
  requiredBaseUnits: '5000000',
  burned: '1500000',
  distribution: { provider: '2500000', holders: '750000', treasury: '250000' },
  ledger: { position: 8, leafHash: '0'.repeat(64) },
  issuedAt: '2026-11-21T12:00:01.000Z',
  jws: '…',
}
