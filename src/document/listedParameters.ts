import { z } from 'zod'
import type { ProductOrder } from '../product/productFacts.ts'
import { type JsonObject, schemaOf } from './jsonSchema.ts'

// Accept schemas of operators, which may lack `properties` or have `true` as the schema of a property.
const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.record(z.string(), z.json()).catch({})).default({}),
  required: z.array(z.string()).default([]),
})

export interface ListedFacts {
  /** Names of the parameters in the path. All other parameters are in the query. */
  readonly inPath?: readonly string[]
  readonly example: ProductOrder
}

export function listedParameters(
  parameters: z.ZodType,
  { inPath = [], example }: ListedFacts,
): readonly (JsonObject & { readonly in: 'path' | 'query' })[] {
  const { properties, required } = objectSchema.parse(schemaOf(parameters))
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: inPath.includes(name) ? 'path' : 'query',
    required: inPath.includes(name) || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example[name] === undefined ? {} : { example: example[name] }),
  }))
}

/** Removes the members in `names` from the schema of a body, because they are part of the path. */
export function withoutMembers(schema: JsonObject, names: readonly string[]): JsonObject {
  const { properties, required } = objectSchema.parse(schema)
  const rest = Object.entries(properties).filter(([name]) => !names.includes(name))
  return {
    ...schema,
    properties: Object.fromEntries(rest),
    required: required.filter((name) => !names.includes(name)),
  }
}
