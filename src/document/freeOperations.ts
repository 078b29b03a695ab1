import { z } from 'zod'
import { receiptBody } from '@tollbook/core/wire'
import { type FreeSearch, resultsMax, searchParameters } from '../product/freeSearch.ts'
import { type JsonObject, refTo, schemaOf } from './jsonSchema.ts'
import { listedParameters } from './listedParameters.ts'
import { serverCardType } from './serverCard.ts'

export interface FreeOperation {
  readonly summary: string
  readonly description?: string
  /** Content of a 200 by media type. `binary` for content that is neither JSON nor text. */
  readonly answers: Readonly<Record<string, z.ZodType | 'binary' | 'text'>>
  /** True if a 503 has the same shape as a 200. */
  readonly tellsUnder503?: boolean
  readonly errors?: readonly number[]
  /** Parameters besides those in the path. */
  readonly parameters?: readonly JsonObject[]
}

const json = (type: z.ZodType) => ({ 'application/json': type })
const enveloped = (data: z.ZodType) => json(z.object({ success: z.boolean(), data }))

const check = z.object({
  status: z.enum(['ok', 'failing', 'unknown']),
  problem: z.string().optional(),
  cause: z
    .string()
    .optional()
    .meta({ description: 'of unknown: the failing check that keeps this one from its answer' }),
})
const health = z.object({
  status: z.enum(['ok', 'degraded', 'draining']),
  version: z.string(),
  checks: z.record(z.string(), check),
  time: z.iso.datetime(),
})
const tokenPrice = z
  .object({
    priceUSD: z.number().meta({ description: 'of one whole token' }),
    source: z.string(),
    asOf: z.iso.datetime(),
    mint: z.string(),
    decimals: z.int(),
  })
  .loose()
const burned = z.object({ tokens: z.number(), baseUnits: z.string(), payments: z.int() })
const amount = z.object({ tokens: z.number(), baseUnits: z.string() })
const burnStats = z.object({
  mint: z.string(),
  decimals: z.int(),
  total: burned,
  last24Hours: burned,
  last7Days: burned,
  last30Days: burned,
  byEndpoint: z.array(burned.extend({ endpoint: z.string() })),
  byDay: z.array(burned.extend({ day: z.iso.date() })),
  confirmed: amount.extend({
    insidePayments: amount.meta({ description: 'by callers, in the transaction that pays' }),
    inRounds: amount.meta({ description: 'by the service, for payments that came without a burn' }),
    lastRound: amount
      .extend({ round: z.int(), signature: z.string(), slot: z.int(), at: z.iso.datetime() })
      .nullable()
      .meta({ description: 'the newest burn of the service, final on chain' }),
  }),
  owed: amount.extend({
    oldestAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'since when the oldest burn is owed, which is the time of its answer; null when none is' }),
  }),
  treasury: z
    .object({
      promised: amount.meta({ description: 'owed by sales in dollars that stand, in tokens' }),
      delivered: amount.meta({ description: 'sent by the treasury for these burns' }),
      burned: amount.meta({ description: 'burned for these sales' }),
      open: amount.meta({ description: 'promised and not burned' }),
      toDeliver: amount,
      deliveredAhead: amount,
      sales: z
        .array(
          z.object({
            mint: z.string(),
            symbol: z.string().optional(),
            amount: z.number(),
            baseUnits: z.string(),
            usd: z.number(),
          }),
        )
        .meta({ description: 'sales of each dollar on sale that owes a burn; seconds behind the other figures' }),
    })
    .optional()
    .meta({ description: 'absent until something is sold in dollars or delivered' }),
  ledger: z.object({ position: z.int(), root: z.string().nullable() }),
  asOf: z.iso
    .datetime()
    .meta({ description: 'when these figures were first read; at most 1 s passes before they are read again' }),
})
const burnOfPayment = z.object({
  reference: z.string(),
  status: z.enum(['inside', 'undelivered', 'owed', 'confirmed', 'reversed']).meta({
    description:
      'undelivered: the payer sent the whole price and got nothing for it yet, so no burn is owed; reversed: the chain dropped the payment, so nothing is owed for it',
  }),
  baseUnits: z.string(),
  burn: z
    .object({ round: z.int(), signature: z.string(), slot: z.int(), at: z.iso.datetime() })
    .nullable()
    .meta({ description: 'the burn of the service that contains it' }),
})
const byUse = z.looseObject({ minimumUSD: z.number(), holdUSD: z.number() }).optional().meta({
  description:
    'price by use on a tab, with `perMillionInputTokensUSD` and `perMillionOutputTokensUSD`, `perMillionBytesUSD`, or `perRowUSD`; `holdUSD` is held, and at least `minimumUSD` and at most the hold is charged',
})
const priceCatalog = z.object({
  products: z.array(
    z.object({
      path: z.string(),
      method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      summary: z.string(),
      priceUSD: z.number(),
      requiredTokens: z.number().nullable().meta({ description: 'now; null while the token has no price' }),
      requiredBaseUnits: z.string().nullable(),
      byUse,
      models: z
        .array(
          z.object({
            model: z.string(),
            priceUSD: z.number(),
            requiredTokens: z.number().nullable(),
            requiredBaseUnits: z.string().nullable(),
            byUse,
          }),
        )
        .optional()
        .meta({ description: 'models with a separate price; the others cost `priceUSD`' }),
      parameters: z.record(z.string(), z.unknown()).meta({ description: 'JSON Schema of the query or the body' }),
      example: z.record(z.string(), z.unknown()).meta({ description: 'parameters that are accepted' }),
      available: z.boolean(),
      reason: z.string().optional().meta({ description: 'why it is not available now' }),
    }),
  ),
  searches: z
    .array(z.object({ path: z.string(), summary: z.string(), example: z.record(z.string(), z.unknown()) }))
    .meta({ description: 'free lookups of symbols and places' }),
  token: z.object({
    symbol: z.string(),
    mint: z.string(),
    decimals: z.int(),
    priceUSD: z.number().nullable(),
    network: z.string(),
    sourceUrl: z.string().nullable(),
  }),
  paymentWallet: z.string(),
  asOf: z.iso.datetime().meta({ description: 'when this list was first read; it is current' }),
})
const jwks = z.object({
  keys: z.array(
    z.object({ kty: z.string(), crv: z.string(), x: z.string(), kid: z.string(), alg: z.string(), use: z.string() }),
  ),
})

const x402Resources = z.object({
  version: z.int(),
  x402Version: z.int(),
  resources: z.array(z.string()),
  instructions: z.string(),
})
const base64 = z.string()
const inclusionProof = z.object({
  position: z.int(),
  leafHash: base64,
  treeSize: z.int(),
  root: base64,
  path: z.array(base64).meta({ description: 'the hashes of RFC 6962, from the leaf up' }),
  checkpoint: z.string().meta({ description: 'the signed note of this size' }),
})
const consistencyProof = z.object({
  from: z.int(),
  to: z.int(),
  path: z.array(base64),
  checkpoints: z
    .object({ from: z.string().nullable(), to: z.string().nullable() })
    .meta({ description: 'the signed notes of the two sizes; null where none was signed' }),
})
const checkpointOperation = {
  summary: 'The newest checkpoint of the ledger',
  description: 'A C2SP signed note: origin, size, root, signature.',
  answers: { 'text/plain': 'text' },
  errors: [404, 503],
} as const
const serverCardOperation = {
  summary: 'Card of the MCP server: its identity and address',
  description: 'The tools and their prices are in the list that `/mcp` returns.',
  answers: {
    [serverCardType]: z.looseObject({ name: z.string(), version: z.string(), remotes: z.array(z.looseObject({})) }),
  },
} as const
const treeSize = {
  name: 'treeSize',
  in: 'query',
  description: 'Size of the checkpoint to prove it in. Default: the newest.',
  schema: { type: 'integer', minimum: 1 },
}

const model = z.object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })

/** The service's free routes by their path in the router. Unlisted routes are internal. */
export const freeOperations: Readonly<Record<string, FreeOperation>> = {
  '/mcp/server-card': serverCardOperation,
  '/.well-known/mcp/server-card.json': serverCardOperation,
  '/.well-known/mcp/catalog.json': {
    summary: 'Catalog of the MCP servers of this host',
    answers: json(z.object({ specVersion: z.string(), entries: z.array(z.looseObject({ url: z.string() })) }).loose()),
  },
  '/.well-known/x402': {
    summary: 'Addresses that answer 402 to every caller',
    description: 'For indexers of x402. The list is empty while no rail has a mount.',
    answers: json(x402Resources),
  },
  '/llms.txt': { summary: 'The service in one page, for language models', answers: { 'text/plain': 'text' } },
  '/api/health': { summary: 'Health of the service', answers: enveloped(health), tellsUnder503: true },
  '/api/catalog': {
    summary: 'Price list: products with prices, parameters and availability',
    answers: enveloped(priceCatalog),
  },
  '/api/token/price': { summary: 'Price of the service token', answers: enveloped(tokenPrice), errors: [503] },
  '/api/token/burn-stats': { summary: 'Burned tokens', answers: enveloped(burnStats), errors: [503] },
  '/api/token/burns/:reference': {
    summary: 'The burn of a payment: inside it, owed, or made later',
    description: '`reference` is the `signature` of a receipt.',
    answers: enveloped(burnOfPayment),
    errors: [404, 503],
  },
  '/.well-known/jwks.json': {
    summary: 'Public keys of the receipts',
    description:
      'The `jws` of a receipt is a compact EdDSA JWS over the canonical JSON (RFC 8785) of the receipt without `jws`.',
    answers: json(jwks),
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
    answers: { 'text/plain': 'text' },
  },
  '/api/ledger/inclusion/:position': {
    summary: 'Proof that an event is in the ledger',
    description:
      'For a receipt, `position` is `receipt.ledger.position`. A 404 with `Retry-After` means that no such event is sealed yet.',
    answers: enveloped(inclusionProof),
    errors: [400, 404, 503],
    parameters: [treeSize],
  },
  '/api/ledger/consistency/:sizes': {
    summary: 'Proof that the ledger was only appended to',
    description: '`sizes` are two sizes of the tree such as `12-40`, the earlier first.',
    answers: enveloped(consistencyProof),
    errors: [400, 404, 503],
  },
  '/tile/*path': {
    summary: 'Hashes of the tree',
    description:
      '`path` is that of C2SP tlog-tiles, with its slashes. `entries/…` exists only where the operator publishes events, and is sent in gzip to clients that accept it.',
    answers: { 'application/octet-stream': 'binary' },
    errors: [404, 503],
  },
  '/api/receipts/:reference': {
    summary: 'Receipt of a streamed answer',
    description: 'The address is in `receipt-location` of the answer. A 404 until the answer is complete.',
    answers: enveloped(z.object({ receipt: receiptBody, inclusionProof: z.string() })),
    errors: [400, 404, 503],
    parameters: [{ name: 'attempt', in: 'query', required: true, schema: { type: 'string' } }],
  },
  '/api/tabs/custody': {
    summary: 'Tokens in the wallet for tabs, and the tabs and refunds that they have to cover',
    answers: enveloped(
      z.looseObject({
        wallet: z.string(),
        mint: z.string(),
        heldBaseUnits: z.string(),
        prepaidBaseUnits: z.string(),
        refundsDueBaseUnits: z.string(),
        isCovered: z.boolean(),
      }),
    ),
    errors: [400, 503],
  },
  '/api/tabs/:tab': {
    summary: 'State and balance of a tab',
    description:
      'POST with `sessionKey` replaces its keys for the wallet that opened it. DELETE closes it: without `authorization` the answer is a 401 with a `challenge` for the wallet or the session key, as for a payment. The rest is owed to the wallet that paid.',
    answers: enveloped(z.looseObject({ tab: z.string(), state: z.string(), balanceBaseUnits: z.string() })),
    errors: [400, 404, 503],
  },
  '/api/payments/:signature': {
    summary: 'State, receipt and refunds of a payment, for its payer',
    description:
      'Without `authorization` the answer is a 401 with a `challenge`. Sign its text with the wallet that paid, and repeat with `authorization: Wallet <wallet>.<expiresAt>.<signature in base58>`.',
    answers: enveloped(
      z.looseObject({
        reference: z.string(),
        wallet: z.string(),
        state: z.string(),
        isFinal: z.boolean(),
        receipt: receiptBody.nullable(),
        refunds: z.array(z.looseObject({ state: z.string(), owedBaseUnits: z.string() })).nullable(),
      }),
    ),
    errors: [400, 401, 404, 503],
  },
  '/api/statements/:wallet': {
    summary: 'Payments of a wallet in a month with their refunds, as CSV, for its holder',
    description:
      'Without `authorization` the answer is a 401 with a `challenge`. Sign its text with the wallet, and repeat with `authorization: Wallet <wallet>.<expiresAt>.<signature in base58>`. A signature serves one download.',
    answers: { 'text/csv': 'text' },
    errors: [400, 401, 503],
    parameters: [{ name: 'month', in: 'query', required: true, schema: { type: 'string', examples: ['2026-11'] } }],
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
    errors: [404, 416],
  },
}

/** Creates the OpenAPI operation of a free route. */
export function freeOperation(path: string, operation: FreeOperation): JsonObject {
  const { summary, description, tellsUnder503 = false, errors = [] } = operation
  const inPath = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } }
  })
  const parameters = [...inPath, ...(operation.parameters ?? [])]
  const answered = responseOf(operation)
  return {
    operationId: `get${path.replaceAll(/[^A-Za-z]+(\w?)/g, (_all, letter: string) => letter.toUpperCase())}`,
    tags: ['Free'],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
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
  // In OpenAPI 3.1 bytes have a media type and no schema.
  if (type === 'binary') return {}
  return { schema: type === 'text' ? { type: 'string' } : schemaOf(type) }
}

/** Creates the OpenAPI operation of a free lookup. */
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
