import { z } from 'zod'
import { schemaOf } from './jsonSchema.ts'

const fieldSchema = z
  .object({
    /**
     * Type of the value. Undefined if values of several types are valid: the schema then has a list of types or no
     * type.
     */
    type: z.string().optional().catch(undefined),
    description: z.string().optional(),
    enum: z.array(z.string()).optional().catch(undefined),
    default: z.json().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    format: z.string().optional(),
    properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  })
  .catch({})
// Accept schemas of operators, which may lack `properties` or have `true` as the schema of a property.
const formSchema = z.object({
  properties: z.record(z.string(), fieldSchema).default({}),
  required: z.array(z.string()).default([]),
  oneOf: z
    .array(z.object({ required: z.array(z.string()) }))
    .default([])
    .catch([]),
})

export type Field = z.infer<typeof fieldSchema>

/** Returns the parameters of a schema. A caller must give exactly one of `alternatives`. */
export function formOf(type: z.ZodType) {
  const { oneOf, ...form } = formSchema.parse(schemaOf(type))
  return { ...form, alternatives: oneOf.flatMap(({ required }) => required) }
}

export function fieldOf(schema: unknown): Field {
  return fieldSchema.parse(schema)
}
