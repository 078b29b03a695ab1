import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { JsonObject } from '../document/jsonSchema.ts'
import type { FreeAnswer, FreeRoute } from '../transport/freeRoute.ts'
import type { MessageCarrier } from '../transport/messageRoute.ts'
import { jsonResult, type ToolCall } from './tool.ts'

export interface FreeTool {
  readonly shown: Tool
  readonly serve: (call: ToolCall, carrier: MessageCarrier) => Promise<CallToolResult>
}

interface FreeToolFacts {
  readonly name: string
  readonly path: string
  readonly description: string
  /**
   * Required texts, by name. The parameter with the name in `segment` is the variable part of the path, and the others
   * form the query.
   */
  readonly parameters?: Readonly<Record<string, string>>
  readonly segment?: string
  /** Shortens the answer, because each part of it uses tokens of the model. */
  readonly shorten?: (body: JsonObject, toolsByPath: ToolsByPath) => JsonObject
}

/** Names of the paid tools. */
export type ToolsByPath = ReadonlyMap<string, string>

const catalog = z.object({
  data: z.looseObject({
    products: z.array(
      z.object({
        path: z.string(),
        summary: z.string(),
        priceUSD: z.number(),
        requiredTokens: z.number().nullable(),
        available: z.boolean(),
        reason: z.string().optional(),
      }),
    ),
    token: z.record(z.string(), z.json()),
  }),
})

/** Shortens the catalog for a model. A product that is not a tool is omitted. */
function shortCatalog(body: JsonObject, toolsByPath: ToolsByPath): JsonObject {
  const { products, token } = catalog.parse(body).data
  return {
    products: products.flatMap(({ path, reason, ...product }) => {
      const tool = toolsByPath.get(path)
      return tool === undefined ? [] : [{ tool, ...product, ...(reason === undefined ? {} : { reason }) }]
    }),
    token,
  }
}

const freeTools: readonly FreeToolFacts[] = [
  {
    name: 'list_prices',
    path: '/api/catalog',
    description: 'Prices of all paid tools, and what is available now. Free.',
    shorten: shortCatalog,
  },
  { name: 'service_health', path: '/api/health', description: 'Health of the service. Free.' },
  { name: 'burn_statistics', path: '/api/token/burn-stats', description: 'Burned tokens. Free.' },
  {
    name: 'find_receipt',
    path: '/api/receipts/:reference',
    description: 'Receipt of a streamed answer, by `tollbook/receipt-location` of its result. Free.',
    parameters: { reference: 'reference of the payment', attempt: 'attempt of the location' },
    segment: 'reference',
  },
]

export const freeToolNames: readonly string[] = freeTools.map(({ name }) => name)

/** A tool whose route this service does not serve is omitted. */
export function createFreeTools(routes: readonly FreeRoute[], toolsByPath: ToolsByPath): readonly FreeTool[] {
  return freeTools.flatMap((facts) => {
    const route = routes.find(({ path }) => path === facts.path)
    return route === undefined ? [] : [createFreeTool(facts, route, toolsByPath)]
  })
}

function createFreeTool(
  { name, description, parameters = {}, segment, shorten }: FreeToolFacts,
  route: FreeRoute,
  toolsByPath: ToolsByPath,
): FreeTool {
  const names = Object.keys(parameters)
  const fields = Object.entries(parameters).map(
    ([field, said]) => [field, { type: 'string', description: said }] as const,
  )
  const input = z.strictObject(Object.fromEntries(names.map((field) => [field, z.string().max(200)])))
  return {
    shown: {
      name,
      description,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(fields),
        ...(names.length === 0 ? {} : { required: names }),
      },
    },
    async serve(call, { header, facts }) {
      const given = input.safeParse(call.arguments)
      if (!given.success) return jsonResult({ error: `the arguments are ${names.join(' and ') || 'none'}` }, true)
      const { [segment ?? '']: inPath = '', ...inQuery } = given.data
      const { requestId, limitQuotes, limitLookups } = facts
      const answer = await route.serve({
        address: '',
        segment: encodeURIComponent(inPath),
        query: new URLSearchParams(inQuery).toString(),
        host: header('host') ?? '',
        requestId,
        header: () => undefined,
        limits: { limitQuotes, limitLookups },
      })
      const body = bodyOf(answer)
      return jsonResult(answer.status === 200 ? (shorten?.(body, toolsByPath) ?? body) : body, answer.status !== 200)
    },
  }
}

const record = z.record(z.string(), z.json())

function bodyOf({ body }: FreeAnswer): JsonObject {
  const text = typeof body === 'string' ? body : 'coded' in body ? body.bytes.toString('utf8') : '{}'
  return record.parse(JSON.parse(text))
}
