import { z } from 'zod'
import { receiptBody } from '@tollbook/core/wire'
import { type FreeSearch, resultsMax, searchParameters } from '../product/freeSearch.ts'
import { type JsonObject, refTo, schemaOf } from './jsonSchema.ts'
import { listedParameters } from './listedParameters.ts'
import { serverCardType } from './serverCard.ts'

export interface FreeOperation {
  readonly summary: string
  readonly description?: string
  /** Content of a 200 by media type. `binary`: content that is neither JSON nor text. */
  readonly answers: Readonly<Record<string, z.ZodType | 'binary' | 'text'>>
  /** True if a 503 has the same schema as a 200. */
  readonly tellsUnder503?: boolean
  readonly errors?: readonly number[]
  /** Parameters in addition to those in the path. */
  readonly parameters?: readonly JsonObject[]
  readonly body?: z.ZodType
  /** Operations of the same path by their method, in addition to GET. */
  readonly actions?: Readonly<Record<string, FreeOperation>>
}

const json = (type: z.ZodType) => ({ 'application/json': type })
const enveloped = (data: z.ZodType) => json(z.object({ success: z.boolean(), data }))
const text = { 'text/plain': 'text' } as const
const time = z.iso.datetime()
const unavailable = [503]
const missing = [404, 503]
const invalid = [400, 404, 503]
const signed = [400, 401, 404, 503]

const health = z.object({
  status: z.enum(['ok', 'degraded', 'draining']),
  version: z.string(),
  checks: z.record(
    z.string(),
    z.object({
      status: z.enum(['ok', 'failing', 'unknown']),
      problem: z.string().optional(),
      cause: z.string().optional().meta({ description: 'of unknown: the failing check behind it' }),
    }),
  ),
  time,
})
const amount = z.object({ tokens: z.number(), baseUnits: z.string() })
const burned = amount.extend({ payments: z.int() })
const round = z.object({ round: z.int(), signature: z.string(), slot: z.int(), at: time }).nullable()
const burnStats = z.object({
  mint: z.string(),
  decimals: z.int(),
  total: burned,
  last24Hours: burned,
  last7Days: burned,
  last30Days: burned,
  byEndpoint: z.array(burned.extend({ endpoint: z.string() })),
  byDay: z.array(burned.extend({ day: z.iso.date() })),
  confirmed: amount.extend({ insidePayments: amount, inRounds: amount, lastRound: round }),
  owed: amount.extend({ oldestAt: time.nullable() }),
  treasury: z
    .looseObject({ promised: amount, delivered: amount, burned: amount, open: amount })
    .optional()
    .meta({ description: 'burns of sales in dollars; absent until something is sold in dollars or delivered' }),
  ledger: z.object({ position: z.int(), root: z.string().nullable() }),
  asOf: time,
})
const burnOfPayment = z.object({
  reference: z.string(),
  status: z.enum(['inside', 'undelivered', 'owed', 'confirmed', 'reversed']).meta({
    description: 'undelivered: no burn is owed yet; reversed: the chain dropped the payment, so nothing is owed for it',
  }),
  baseUnits: z.string(),
  burn: round.meta({ description: 'the burn of the service that contains it' }),
})
const byUse = z.looseObject({ minimumUSD: z.number(), holdUSD: z.number() }).optional().meta({
  description: 'price by use on a tab: at least `minimumUSD`, and at most `holdUSD`, which is held',
})
const price = {
  priceUSD: z.number(),
  requiredTokens: z.number().nullable().meta({ description: 'now; null while the token has no price' }),
  requiredBaseUnits: z.string().nullable(),
  byUse,
}
const order = z.record(z.string(), z.unknown())
const priceCatalog = z.object({
  products: z.array(
    z.object({
      path: z.string(),
      method: z.string(),
      summary: z.string(),
      ...price,
      models: z
        .array(z.object({ model: z.string(), ...price }))
        .optional()
        .meta({ description: 'models with a separate price; the others cost `priceUSD`' }),
      parameters: order.meta({ description: 'JSON Schema of the query or the body' }),
      example: order,
      available: z.boolean(),
      reason: z.string().optional().meta({ description: 'why it is not available now' }),
    }),
  ),
  searches: z.array(z.object({ path: z.string(), summary: z.string(), example: order })),
  token: z.looseObject({ symbol: z.string(), mint: z.string(), decimals: z.int(), priceUSD: z.number().nullable() }),
  paymentWallet: z.string(),
  asOf: time,
})
const base64 = z.string()
const path = z.array(base64).meta({ description: 'hashes of RFC 6962, from the leaf up' })
const checkpointOperation = {
  summary: 'The newest checkpoint of the ledger',
  description: 'A C2SP signed note: origin, size, root, signature.',
  answers: text,
  errors: missing,
}
const serverCardOperation = {
  summary: 'Card of the MCP server: its identity and address',
  answers: {
    [serverCardType]: z.looseObject({ name: z.string(), version: z.string(), remotes: z.array(z.looseObject({})) }),
  },
}
const query = (name: string, schema: JsonObject, required = true) => ({ name, in: 'query', required, schema })
const signedBy = (wallet: string) =>
  `Without \`authorization\` the answer is a 401 with a \`challenge\`. Sign its text with ${wallet}, and repeat with \`authorization: Wallet <wallet>.<expiresAt>.<signature in base58>\`.`

const model = z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })

/**
 * Documentation of the service's free routes by their path in the router. It excludes the searches of products. A route
 * without an entry is internal and not documented.
 */
export const freeOperations: Readonly<Record<string, FreeOperation>> = {
  '/mcp/server-card': serverCardOperation,
  '/.well-known/mcp/server-card.json': serverCardOperation,
  '/.well-known/mcp/catalog.json': {
    summary: 'Catalog of the MCP servers of this host',
    answers: json(z.looseObject({ specVersion: z.string(), entries: z.array(z.looseObject({ url: z.string() })) })),
  },
  '/.well-known/x402': {
    summary: 'Addresses that answer 402 to every caller',
    description: 'For indexers of x402. The list is empty while no rail has a mount.',
    answers: json(z.looseObject({ version: z.int(), resources: z.array(z.string()), instructions: z.string() })),
  },
  '/llms.txt': { summary: 'The service in one page, for language models', answers: text },
  '/api/health': { summary: 'Health of the service', answers: enveloped(health), tellsUnder503: true },
  '/api/catalog': {
    summary: 'Price list: products with prices, parameters and availability',
    answers: enveloped(priceCatalog),
  },
  '/api/token/price': {
    summary: 'Price of the service token',
    answers: enveloped(z.looseObject({ priceUSD: z.number(), source: z.string(), asOf: time, mint: z.string() })),
    errors: unavailable,
  },
  '/api/token/burn-stats': { summary: 'Burned tokens', answers: enveloped(burnStats), errors: unavailable },
  '/api/token/burns/:reference': {
    summary: 'The burn of a payment: inside it, owed, or made later',
    description: '`reference` is the `signature` of a receipt; if a tab paid, `tab:ID:NUMBER` of its `tab`.',
    answers: enveloped(burnOfPayment),
    errors: missing,
  },
  '/.well-known/jwks.json': {
    summary: 'Public keys of the receipts',
    description:
      'The `jws` of a receipt is a compact EdDSA JWS over the canonical JSON (RFC 8785) of the receipt without `jws`.',
    answers: json(z.object({ keys: z.array(z.looseObject({ kid: z.string(), x: z.string() })) })),
  },
  '/.well-known/did.json': {
    summary: 'Public keys of the receipts as a DID document',
    description: 'For receipts in the form of x402 (`offer-receipt`), whose `kid` begins with the DID of the service.',
    answers: json(z.looseObject({ id: z.string() })),
  },
  '/livez': { summary: 'Liveness of the process', answers: json(z.object({ status: z.literal('alive') })) },
  '/readyz': {
    summary: 'Readiness to sell',
    answers: json(z.object({ status: z.enum(['ready', 'not ready']), failing: z.array(z.string()) })),
    tellsUnder503: true,
  },
  '/openapi.json': { summary: 'This document', answers: json(z.looseObject({ openapi: z.string() })) },
  '/docs': { summary: 'This document as a page', answers: { 'text/html': 'text' } },
  '/api/ledger/checkpoint': checkpointOperation,
  '/checkpoint': checkpointOperation,
  '/api/ledger/key': {
    summary: 'Public key of the checkpoints',
    description: 'A verifier key of C2SP signed notes: `<origin>+<key id>+<key>`.',
    answers: text,
  },
  '/api/ledger/inclusion/:position': {
    summary: 'Proof that an event is in the ledger',
    description:
      'For a receipt, `position` is `receipt.ledger.position`. A 404 with `Retry-After` means that no such event is sealed yet.',
    answers: enveloped(
      z.object({
        position: z.int(),
        leafHash: base64,
        treeSize: z.int(),
        root: base64,
        path,
        checkpoint: z.string().meta({ description: 'the signed note of this size' }),
      }),
    ),
    errors: invalid,
    parameters: [query('treeSize', { type: 'integer', minimum: 1 }, false)],
  },
  '/api/ledger/consistency/:sizes': {
    summary: 'Proof that the ledger was only appended to',
    description: '`sizes` are two sizes of the tree such as `12-40`, the earlier first.',
    answers: enveloped(
      z.object({
        from: z.int(),
        to: z.int(),
        path,
        checkpoints: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
      }),
    ),
    errors: invalid,
  },
  '/tile/*path': {
    summary: 'Hashes of the tree',
    description:
      '`path` is that of C2SP tlog-tiles, with its slashes. `entries/…` exists only where the operator publishes events, and is sent in gzip to clients that accept it.',
    answers: { 'application/octet-stream': 'binary' },
    errors: missing,
  },
  '/api/receipts/:reference': {
    summary: 'Receipt of a streamed answer',
    description: 'The address is in `receipt-location` of the answer. A 404 until the answer is complete.',
    answers: enveloped(z.object({ receipt: receiptBody, inclusionProof: z.string() })),
    errors: invalid,
    parameters: [query('attempt', { type: 'string' })],
  },
  '/api/tabs/custody': {
    summary: 'Tokens in the wallet for tabs, and the tabs and refunds that they have to cover',
    answers: enveloped(z.looseObject({ wallet: z.string(), mint: z.string(), isCovered: z.boolean() })),
    errors: [400, 503],
  },
  '/api/tabs/:tab': {
    summary: 'State and balance of a tab',
    answers: enveloped(z.looseObject({ tab: z.string(), state: z.string(), balanceBaseUnits: z.string() })),
    errors: invalid,
    actions: {
      post: {
        summary: 'Replaces both keys of a tab',
        description: signedBy('the wallet that opened it'),
        body: z.object({
          sessionKey: z.string().meta({ description: 'Ed25519 key in base58' }),
          bearerSha256: z.string().optional().meta({ description: 'for a tab that was opened with a bearer key' }),
        }),
        answers: enveloped(z.object({ tab: z.string(), sessionKey: z.string(), bearerSha256: z.string().nullable() })),
        errors: signed,
      },
      delete: {
        summary: 'Closes a tab; its rest is owed to the wallet that paid',
        description: signedBy('the wallet that opened it or the session key'),
        answers: enveloped(
          z.object({ tab: z.string(), closed: z.boolean(), wallet: z.string(), restBaseUnits: z.string() }),
        ),
        errors: signed,
      },
    },
  },
  '/api/payments/:signature': {
    summary: 'State, receipt and refunds of a payment, for its payer',
    description: signedBy('the wallet that paid'),
    answers: enveloped(z.looseObject({ reference: z.string(), state: z.string(), receipt: receiptBody.nullable() })),
    errors: signed,
  },
  '/api/statements/:wallet': {
    summary: 'Payments of a wallet in a month with their refunds, as CSV, for its holder',
    description: `${signedBy('the wallet')} A signature serves one download.`,
    answers: { 'text/csv': 'text' },
    errors: [400, 401, 503],
    parameters: [query('month', { type: 'string', examples: ['2026-11'] })],
  },
  '/v1/models': {
    summary: 'Models for sale, in the wire format of OpenAI',
    answers: json(z.object({ object: z.literal('list'), data: z.array(model) })),
  },
  '/v1/models/*model': {
    summary: 'One model for sale, in the wire format of OpenAI',
    answers: json(model),
    errors: [404],
  },
  '/artifacts/:name': {
    summary: 'A purchased picture or document',
    description: 'Anyone with the address can fetch it until it expires.',
    answers: { 'image/png': 'binary', 'application/pdf': 'binary' },
    errors: [404, 416, 503],
  },
}

/** Returns the operations of a path by their method. */
export function freeOperationsAt(path: string, { actions = {}, ...get }: FreeOperation): JsonObject {
  const all = Object.entries({ get, ...actions })
  return Object.fromEntries(all.map(([method, operation]) => [method, freeOperation(path, method, operation)]))
}

function freeOperation(path: string, method: string, operation: FreeOperation): JsonObject {
  const { summary, description, tellsUnder503 = false, errors = [], body } = operation
  const inPath = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } }
  })
  const parameters = [...inPath, ...(operation.parameters ?? [])]
  const answered = responseOf(operation)
  return {
    operationId: `${method}${path.replaceAll(/[^A-Za-z]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    tags: ['Free'],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      '200': { description: summary, ...answered },
      ...(tellsUnder503 ? { '503': { description: 'The same, while unhealthy', ...answered } } : {}),
      ...Object.fromEntries([...errors, 429].map((status) => [String(status), refTo('responses', `Error${status}`)])),
    },
  }
}

function responseOf({ answers }: FreeOperation): JsonObject {
  const content = Object.entries(answers).map(([mediaType, type]) => [mediaType, contentOf(type)] as const)
  return { headers: { 'x-request-id': refTo('headers', 'RequestId') }, content: Object.fromEntries(content) }
}

function contentOf(type: z.ZodType | 'binary' | 'text'): JsonObject {
  // Omit the schema for bytes, because in OpenAPI 3.1 they have only a media type.
  if (type === 'binary') return {}
  return { schema: type === 'text' ? { type: 'string' } : schemaOf(type) }
}

export function searchOperation({ summary, result, example }: FreeSearch): FreeOperation {
  return {
    summary,
    description:
      'Reads a list of this service and asks no provider. An item outside of the list may still be for sale.',
    answers: enveloped(z.object({ results: z.array(result).max(resultsMax), total: z.int() })),
    errors: [400],
    parameters: listedParameters(searchParameters, { example }),
  }
}
