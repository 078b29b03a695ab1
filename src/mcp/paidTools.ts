import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { methodToolName, toolNameOf } from '@tollbook/core/toolRequest'
import { type JsonObject, schemaOf } from '../document/jsonSchema.ts'
import { shownUse } from '../document/usePrices.ts'
import { priceRange } from '../document/variantPrices.ts'
import { displayUsd } from '../pricing/priceList.ts'
import type { Endpoint } from '../product/endpoint.ts'

/**
 * Assigns a tool name to each product. If two paths result in the same name, or a path in the name of a free tool, the
 * later product gets its method as a suffix. A product with a raw body does not become a tool, because arguments are
 * JSON.
 */
export function nameTools(
  endpoints: readonly Endpoint[],
  freeNames: readonly string[] = [],
): ReadonlyMap<string, Endpoint> {
  const tools = new Map<string, Endpoint>()
  for (const endpoint of endpoints.filter(({ rawBody }) => rawBody === undefined)) {
    const name = toolNameOf(endpoint.path)
    const unique = tools.has(name) || freeNames.includes(name) ? methodToolName(endpoint.path, endpoint.method) : name
    if (!tools.has(unique)) tools.set(unique, endpoint)
  }
  return tools
}

/**
 * Describes the tool of a product. The description is short, because models read the whole list and each byte uses
 * tokens.
 */
export function showPaidTool(name: string, endpoint: Endpoint): Tool {
  return {
    name,
    description: `${endpoint.summary}. ${shownPrice(endpoint)} a call${shownToolUse(endpoint)}.`,
    inputSchema: { ...shortSchema(schemaOf(endpoint.parameters)), type: 'object' },
    _meta: { 'tollbook/priceUSD': displayUsd(endpoint) },
  }
}

function shownPrice(endpoint: Endpoint): string {
  const { amount, min, max } = { amount: undefined, min: undefined, max: undefined, ...priceRange(endpoint) }
  return amount === undefined ? `${min} to ${max} USD` : `${amount} USD`
}

/** Returns the metered price of the product without its models, because the models are too many for the list. */
function shownToolUse({ variants = [], ...product }: Endpoint): string {
  const own = shownUse(product)
  const hasOthers = own !== '' && variants.some(({ metered }) => metered !== undefined)
  return hasOthers ? `${own}; list_prices has the other models` : own
}

// Parts of a schema that are omitted, because the service checks them itself before a payment.
const omitted = new Set(['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'additionalProperties', 'format'])
// Parts that are also omitted within parameters, whose names are clear enough for a model.
const omittedInside = new Set(['description', 'minimum', 'maximum'])
const combinators = new Set(['oneOf', 'anyOf', 'allOf', 'not'])
const record = z.record(z.string(), z.json())

/** Returns the schema without the parts that a model does not need. `/openapi.json` has the complete schema. */
function shortSchema(schema: JsonObject): JsonObject {
  // Remove combinators at the top of a schema, because some model providers refuse them.
  return shorten(Object.fromEntries(Object.entries(schema).filter(([name]) => !combinators.has(name))), 0)
}

function shorten(schema: JsonObject, depth: number): JsonObject {
  const retained = Object.entries(schema).filter(
    ([name]) => !omitted.has(name) && !(depth > 1 && omittedInside.has(name)),
  )
  return Object.fromEntries(retained.map(([name, value]) => [name, shortPart(name, value, depth)]))
}

function shortPart(name: string, value: Json, depth: number): Json {
  if (name !== 'properties') return name === 'items' || combinators.has(name) ? shortValue(value, depth + 1) : value
  const fields = Object.entries(record.parse(value))
  return Object.fromEntries(fields.map(([field, schema]) => [field, shortValue(schema, depth + 1)]))
}

function shortValue(value: Json, depth: number): Json {
  if (Array.isArray(value)) return value.map((each: Json) => shortValue(each, depth))
  const object = record.safeParse(value)
  return object.success ? shorten(object.data, depth) : value
}
