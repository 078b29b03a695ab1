import { z } from 'zod'
import { findPathProblem } from '../product/productPath.ts'
import { type BuiltinChoice, builtinNames } from '../product/builtinName.ts'
import { priceRule } from '../pricing/parsePrices.ts'
import { isServicePath } from './servicePaths.ts'
import {
  durationText,
  forwardedName,
  headerName,
  headerValue,
  pointerText,
  priceText,
  rateText,
  sizeText,
  statusCode,
} from './fileTexts.ts'

import { uploadBytesMax } from '../product/productFacts.ts'

/**
 * Schema of prices by parameter value. A value may be a text or a number, but names in the YAML mapping are always read
 * as texts.
 */
const pricesByValue = z.record(z.string(), priceText)

const jsonSchemaOf = (shape: z.core.$ZodType) => {
  const { $schema: _schema, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })
  return schema
}

/** `usePrice.ts` checks the combination of members, because the messages of a union would not name the wrong member. */
export const useShape = z.strictObject({
  input_per_million: rateText.optional().describe('Price of a million tokens of the prompt.'),
  output_per_million: rateText.optional().describe('Price of a million tokens of the reply.'),
  per_million_bytes: rateText.optional().describe('Price of a million bytes of the answer.'),
  rows: pointerText.optional().describe('JSON pointer in the answer: an array, whose items count, or a number.'),
  per_row: priceText.optional().describe('Price of a row.'),
  minimum: priceText.prefault('0.000001').describe('Charged for an answer that used less.'),
})

export type UseEntry = z.infer<typeof useShape>

export const useByValue = z.record(z.string(), useShape)

/** `routePrices.ts` checks the price, because it depends on the parameters of the route. */
export const priceShape = z
  .strictObject(
    {
      usd: z
        .union([priceText, pricesByValue], {
          error: ({ input }) => (isPlain(input) ? priceRule : 'must be a price, or prices by value'),
        })
        .describe('Price of one request in US dollars, or prices by the value of the parameter that `by` names.'),
      by: pointerText
        .optional()
        .describe('JSON pointer of the parameter whose value decides the price, such as /model.'),
      otherwise: priceText.optional().describe('Price for values that `usd` does not list.'),
      per: pointerText
        .optional()
        .describe('JSON pointer of a quantity: an integer, or an array whose items count. `usd` is the price of one.'),
      min: z.int().positive().optional().describe('Smallest quantity. Default: the minimum of the parameter.'),
      max: z.int().positive().optional().describe('Largest quantity. Default: the maximum of the parameter.'),
      // Checked later by `usePrice.ts`, whose messages name the wrong member. The messages of a union would not.
      use: z
        .unknown()
        .optional()
        .meta({
          ...jsonSchemaOf(z.union([useShape, useByValue])),
          description: 'Price by use for tabs, at most `usd`; with `by`, for each value.',
        }),
    },
    { error: ({ input }) => (isPlain(input) ? 'must be a mapping such as { usd: "0.01" }' : undefined) },
  )
  .describe('Price of a request.')

const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number'

export type PriceEntry = z.infer<typeof priceShape>

const headers = z.record(headerName, headerValue)

const baseUrl = z.string().refine(isBaseUrl, 'must be an http(s) URL without user name, query and fragment')

export const upstreamShape = z.strictObject({
  url: baseUrl.optional().describe('Base URL. The paths of routes are appended to it.'),
  mcp: baseUrl
    .optional()
    .describe('URL of an MCP server (streamable HTTP), instead of `url`. Its routes name a `tool`.'),
  headers: headers
    .default({})
    .describe('Headers of each request, such as the key of the API. Write secrets as ${NAME}.'),
  timeout: durationText.prefault('10s').describe('Maximum time of an answer; of a streamed one, until its head.'),
  silence: durationText.prefault('15s').describe('Maximum pause within a streamed answer.'),
  max_response: sizeText.prefault('1MiB').describe('Maximum size of an answer.'),
  concurrency: z.int().min(1).max(1_000).default(32).describe('Requests at the same time. Others wait.'),
  pace: z
    .strictObject({ requests: z.int().min(1).max(1_000), per: durationText })
    .optional()
    .describe('Most requests in any interval of this length, such as {requests: 60, per: 1m}. Default: no limit.'),
  health: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, 'must be a path such as /healthz')
    .optional()
    .describe(
      'Path that answers a GET with a 2xx while the API works. Default: HEAD of the URL, answered with any status but 502, 503 and 504.',
    ),
})

export type UpstreamEntry = z.infer<typeof upstreamShape>

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
}

const statuses = z.array(statusCode).min(1)

const successShape = z.strictObject({
  status: statuses.default([200, 201, 203]).describe('Statuses of an answer that may be sold.'),
  json: z
    .strictObject({
      pointer: pointerText,
      exists: z.boolean().optional(),
      equals: z.json().optional(),
    })
    .refine(
      ({ exists, equals }) => (exists === undefined) !== (equals === undefined),
      'needs either `exists` or `equals`',
    )
    .optional()
    .describe('A member of the JSON answer that shows success.'),
  ends_with: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Text at the end of a complete answer that is not JSON, before white space, such as "data: [DONE]".'),
})

const parameterName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'must be the name of a parameter')

export const routeShape = z.strictObject({
  path: z
    .string()
    .max(200)
    .superRefine((path, context) => {
      const problem = findPathProblem(path)
      if (problem !== undefined) context.addIssue(problem)
      else if (isServicePath(path)) context.addIssue('belongs to the service; choose another path')
    })
    .describe('Path at which this service sells the answer. `{name}` takes a parameter from a segment.'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'must be GET, POST, PUT, PATCH or DELETE').default('GET'),
  summary: z.string().min(1).max(200).describe('One line about the product, for catalogs and documents.'),
  upstream: z.string().describe('Name of an entry of `upstreams`.'),
  to: z
    .string()
    .max(1_000)
    .regex(/^\/[\x21-\x7e]*$/, 'must be a path that begins with /, percent-encoded')
    .optional()
    .describe('Path below the URL of the upstream. `{name}` takes a parameter as one segment.'),
  tool: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Name of the tool of an MCP server, instead of `to`. Its arguments are the parameters.'),
  price: priceShape,
  parameters: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('JSON Schema 2020-12 of the parameters. Default: none are allowed.'),
  query: z.array(parameterName).default([]).describe('Parameters of a JSON body that the upstream takes in its query.'),
  arrays: z.enum(['repeat', 'comma']).default('repeat').describe('How arrays are written in a query of the upstream.'),
  body: z
    .strictObject({
      content_types: z
        .array(z.string().regex(/^[a-z0-9.+-]+\/[a-z0-9.+-]+$/, 'must be a media type such as image/png'))
        .min(1)
        .optional(),
      max: sizeText.refine((bytes) => bytes <= uploadBytesMax, 'must be at most 16MiB').prefault('64KiB'),
    })
    .prefault({})
    .describe('Body of a request. With `content_types` it is passed on as it is, and the parameters are in the query.'),
  example: z.record(z.string(), z.json()).default({}).describe('Parameters of an example in documents.'),
  success: successShape.prefault({}),
  no_data: z
    .strictObject({ status: z.array(statusCode).default([404]) })
    .prefault({})
    .describe('Statuses that mean that the answer does not exist. They are free of charge.'),
  answer: z
    .enum(['as_is', 'envelope'])
    .default('as_is')
    .describe(
      '`as_is`: the bytes of the API, with the receipt in a header. `envelope`: JSON with `data` and `receipt`.',
    ),
  content_types: z
    .array(z.string().regex(/^[\w.+-]+\/[\w.+*-]+$/, 'must be a media type such as application/json'))
    .min(1)
    .default(['application/json'])
    .describe('Media types of answers that may be sold. `image/*` and `*/*` are allowed.'),
  stream: z.enum(['never', 'passthrough']).default('never').describe('Whether event streams are sent as they arrive.'),
  forward: z
    .strictObject({
      request: z.array(forwardedName).default([]).describe('Headers of the caller that the upstream gets.'),
      response: z.array(forwardedName).default([]).describe('Headers of the upstream that the caller gets.'),
    })
    .prefault({}),
  timeout: durationText.optional().describe('Replaces the timeout of the upstream.'),
  max_response: sizeText.optional().describe('Replaces the limit of the upstream.'),
  idempotent: z
    .boolean()
    .default(false)
    .describe('Whether the upstream may be asked a second time when a connection breaks.'),
})

export type RouteEntry = z.infer<typeof routeShape>

export function hasOnlyJson({ content_types: types }: Pick<RouteEntry, 'content_types'>): boolean {
  return types.every((type) => type.endsWith('json'))
}

export const upstreamName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be a name of lower-case letters, digits and hyphens')

const builtinNameShape = z.enum(builtinNames, `must be one of ${builtinNames.join(', ')}`)

export const builtinShape = z
  .union(
    [
      builtinNameShape,
      z.strictObject({
        name: builtinNameShape,
        price: priceText.optional().describe('Price of one request in US dollars. Default: the price of the product.'),
        off: z.boolean().default(false).describe('Not sold now. Captures that were sold stay available.'),
      }),
    ],
    `must be one of ${builtinNames.join(', ')}, or { name, price, off }`,
  )
  .transform((entry): BuiltinChoice =>
    typeof entry === 'string'
      ? { name: entry, isOff: false }
      : { name: entry.name, priceMicroUsd: entry.price, isOff: entry.off },
  )

export const openApiShape = z.strictObject({
  document: z.string().min(1).describe('OpenAPI 3.0 or 3.1 in JSON or YAML, relative to this file.'),
  upstream: z.string().describe('Name of an entry of `upstreams`.'),
  prefix: z
    .string()
    .regex(/^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/, 'must be a path such as /pets, or empty')
    .optional()
    .describe('Start of the paths. Default: a slash and the name of the upstream.'),
  operations: z.array(z.string()).min(1).describe('Operations to sell, such as GET /pets/{id}.'),
  price: priceShape,
})

/** Schema of the whole file, for the published JSON Schema. The service itself checks the entries one by one. */
export const productsFileShape = z.strictObject({
  version: z.literal(1, 'must be 1').describe('Version of this format.'),
  builtin: z.array(builtinShape).default([]).describe('Built-in products that are sold. Default: none.'),
  upstreams: z.record(upstreamName, upstreamShape).default({}),
  routes: z.array(routeShape).default([]),
  openapi: z.array(openApiShape).default([]),
})

/** Editors complete and check the products file with this schema. */
export function productsFileSchema(): object {
  return {
    title: 'Products of Tollbook',
    ...z.toJSONSchema(productsFileShape, { io: 'input', unrepresentable: 'any' }),
  }
}
