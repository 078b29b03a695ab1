import { z } from 'zod'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { examples } from '../endpoints/examples.ts'
import type { Price } from '@tollbook/core/quote'
import { receiptBody, saleBody } from '@tollbook/core/wire'
import { priceAll } from '../pricing/currentPrice.ts'
import { priceList, usdDecimals } from '../pricing/priceList.ts'
import { assertPresent } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'
import { displayNumber } from '@tollbook/core/money'
import { type JsonObject, refTo, schemaOf } from './jsonSchema.ts'
import { samplesOf, someWallet } from './samples.ts'
import type { Verdict } from './verdicts.ts'

/** The last word of the path, for names: `Crypto`, `Qrcode`. */
function nameOf({ path }: Endpoint): string {
  const word = path.slice(path.lastIndexOf('/') + 1)
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** What all sales have in common. */
export const saleSchemas = (): JsonObject => ({ Receipt: schemaOf(receiptBody), Meta: schemaOf(saleBody.shape.meta) })

/** What is asked for and what is delivered, by name. */
export function schemasOf(endpoint: Endpoint): JsonObject {
  const name = nameOf(endpoint)
  const sale = {
    type: 'object',
    properties: {
      success: { const: true },
      data: refTo('schemas', `${name}Data`),
      receipt: refTo('schemas', 'Receipt'),
      inclusionProof: {
        type: 'string',
        description: 'Where the proof is that the ledger holds this sale, within a second and for ever.',
      },
      meta: refTo('schemas', 'Meta'),
    },
    required: ['success', 'data', 'receipt', 'inclusionProof', 'meta'],
  }
  return {
    [`${name}Order`]: schemaOf(endpoint.schema),
    [`${name}Data`]: schemaOf(endpoint.answer),
    [`${name}Sale`]: sale,
  }
}

export interface Offer {
  readonly baseUrl: string
  /** Undefined while the token has none. */
  readonly price: Price | undefined
}

/** One thing that is sold, as an OpenAPI operation: made once, completed for each address and price. */
export function paidOperation(endpoint: Endpoint, verdicts: readonly Verdict[]): (offer: Offer) => JsonObject {
  const { method, summary } = endpoint
  const head = { operationId: `${method.toLowerCase()}${nameOf(endpoint)}`, tags: ['Paid'], summary }
  const rest = {
    ...inputOf(endpoint),
    responses: { '200': saleResponse(endpoint), ...refusalsOf(endpoint, verdicts) },
  }
  return (offer) => ({ ...head, ...offerOf(endpoint, offer), ...rest })
}

function offerOf(endpoint: Endpoint, { baseUrl, price }: Offer): JsonObject {
  const { path, summary } = endpoint
  const priceUsd = displayNumber(priceList[path], usdDecimals)
  const { curl, pay } = samplesOf(endpoint, baseUrl)
  const tokens = price === undefined ? undefined : displayNumber(price.requiredBaseUnits, price.decimals)
  return {
    summary: `${summary} ($${priceUsd})`,
    description: descriptionOf(`**$${priceUsd}** a request${tokens === undefined ? '' : `, now ${tokens} tokens`}`, {
      curl,
      pay,
    }),
    'x-price-usd': priceUsd,
    ...(tokens === undefined ? {} : { 'x-price-tokens': tokens }),
    'x-codeSamples': [
      { lang: 'Shell', label: 'Ask for the price', source: curl },
      { lang: 'Shell', label: 'Pay', source: pay },
    ],
  }
}

function descriptionOf(price: string, { curl, pay }: { readonly curl: string; readonly pay: string }): string {
  return [
    `${price}. Without \`x-payment-proof\` the answer is a 402 with the quote; "Try it out" can do that, and cannot pay.`,
    `Ask for the price:\n\n\`\`\`sh\n${curl}\n\`\`\``,
    `Pay and get the answer, in the folder of Tollbook, with the demo wallet of local mode or your \`--wallet\`:\n\n\`\`\`sh\n${pay}\n\`\`\``,
  ].join('\n\n')
}

const parameterNames = ['WalletAddress', 'PaymentProof', 'IdempotencyKey'] as const

function inputOf(endpoint: Endpoint): JsonObject {
  const headers = parameterNames.map((name) => refTo('parameters', name))
  const { parameters } = examples[endpoint.path]
  if (endpoint.method === 'GET') return { parameters: [...queryParameters(endpoint, parameters), ...headers] }
  const schema = refTo('schemas', `${nameOf(endpoint)}Order`)
  return {
    parameters: headers,
    requestBody: {
      required: true,
      description: `At most ${endpoint.bodyBytesMax} bytes of UTF-8; no key twice.`,
      content: { 'application/json': { schema, example: parameters } },
    },
  }
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.json())),
  required: z.array(z.string()).default([]),
})

function queryParameters(endpoint: Endpoint, example: Readonly<Record<string, Json>>): readonly JsonObject[] {
  const { properties, required } = objectSchema.parse(schemaOf(endpoint.schema))
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example[name] === undefined ? {} : { example: example[name] }),
  }))
}

function saleResponse(endpoint: Endpoint): JsonObject {
  const value = {
    success: true,
    data: examples[endpoint.path].data,
    receipt: receiptExample(endpoint),
    inclusionProof: '/api/ledger/inclusion/8',
    meta: metaExample,
  }
  const schema = refTo('schemas', `${nameOf(endpoint)}Sale`)
  return {
    description: 'Paid and delivered. The delivery stands in the ledger before this answer is sent.',
    headers: {
      'x-request-id': refTo('headers', 'RequestId'),
      'idempotent-replay': refTo('headers', 'IdempotentReplay'),
      'x-sample-data': refTo('headers', 'SampleData'),
    },
    content: { 'application/json': { schema, example: value } },
  }
}

/** What cannot happen here is not told: no body, no media type; no target, no forbidden one. */
function refusalsOf({ method, schema }: Endpoint, verdicts: readonly Verdict[]): JsonObject {
  const hasTarget = JSON.stringify(schemaOf(schema)).includes('"url":')
  const impossible = new Set([405, ...(method === 'GET' ? [413, 415] : []), ...(hasTarget ? [] : [403])])
  const statuses = new Set(verdicts.map(({ status }) => status).filter((status) => !impossible.has(status)))
  return Object.fromEntries(
    [...statuses].sort((a, b) => a - b).map((status) => [String(status), refTo('responses', `Error${status}`)]),
  )
}

const metaExample = { source: 'tollbook', asOf: '2026-11-21T12:00:00.000Z', cached: false }

// One token is worth a tenth of a cent in the examples.
const decimals = 6
const examplePrices = assertPresent(priceAll(10n ** 15n, decimals), 'a tenth of a cent is a price')

function receiptExample({ path }: Endpoint): JsonObject {
  const price = assertPresent(
    examplePrices.find(({ endpoint }) => endpoint === path),
    'what is sold has a price',
  )
  const { requiredBaseUnits, burnBaseUnits, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits } = price
  return {
    id: 'receipt_…',
    wallet: someWallet,
    endpoint: path,
    quoteId: 'quote_…',
    signature: '…',
    slot: 1,
    blockTime: '2026-11-21T12:00:00.000Z',
    requiredTokens: displayNumber(requiredBaseUnits, decimals),
    requiredBaseUnits: String(requiredBaseUnits),
    burned: String(burnBaseUnits),
    distribution: {
      provider: String(providerBaseUnits),
      holders: String(holdersBaseUnits),
      treasury: String(treasuryBaseUnits),
    },
    ledger: { position: 8, leafHash: '0'.repeat(64) },
    issuedAt: '2026-11-21T12:00:01.000Z',
    jws: '…',
  }
}
