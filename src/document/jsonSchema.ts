import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import type { Json } from '@tollbook/core/canonicalJson'

export interface JsonObject {
  readonly [key: string]: Json
}

const jsonObject = z.record(z.string(), z.json())

const written = new WeakMap<z.ZodType, JsonObject>()

/** Returns the JSON Schema of the input as callers send it, before defaults apply. */
export function schemaOf(type: z.ZodType): JsonObject {
  // Cache the schemas, because the document and the pages need them repeatedly and creating them is slow.
  const known = written.get(type)
  if (known !== undefined) return known
  const schema = writeSchema(type)
  written.set(type, schema)
  return schema
}

function writeSchema(type: z.ZodType): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  })
  assert(!('$defs' in schema), 'a schema of the document has no inner definitions, which would be out of reach')
  return jsonObject.parse(schema)
}

/** Removes the limits of JavaScript's integers and the long pattern of dates. Adds defaults that zod omits. */
function tidy(type: z.core.$ZodTypes, schema: z.core.JSONSchema.BaseSchema): void {
  // Read the default from the metadata of the field, because zod omits the default of a transformed field, such as a
  // number in the query.
  const metadata = z.globalRegistry.get(type)
  if (metadata !== undefined && 'default' in metadata) schema.default = metadata['default']
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.format === 'date-time' || schema.pattern === undefined) delete schema.pattern
}

export function refTo(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` }
}
