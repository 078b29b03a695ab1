import { z } from 'zod'
import type { ProductOrder } from '../product/productFacts.ts'
import { type JsonObject, schemaOf } from './jsonSchema.ts'

const objectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.json())),
  required: z.array(z.string()).default([]),
})

/** Lists the parameters of a query in the form of OpenAPI. */
export function queryParameters(parameters: z.ZodType, example: ProductOrder): readonly JsonObject[] {
  const { properties, required } = objectSchema.parse(schemaOf(parameters))
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example[name] === undefined ? {} : { example: example[name] }),
  }))
}
