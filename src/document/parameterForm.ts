import { z } from 'zod'
import { schemaOf } from './jsonSchema.ts'

const fieldSchema = z
  .object({
    /** Undefined if the value may have several types. The schema then has no type or a list. */
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
// A schema of an operator may have no properties, or `true` as the schema of one.
const formSchema = z.object({
  properties: z.record(z.string(), fieldSchema).default({}),
  required: z.array(z.string()).default([]),
  oneOf: z
    .array(z.object({ required: z.array(z.string()) }))
    .default([])
    .catch([]),
})

export type Field = z.infer<typeof fieldSchema>

/** Returns the parameters of a schema. `alternatives`: exactly one of these is given. */
export function formOf(type: z.ZodType) {
  const { oneOf, ...form } = formSchema.parse(schemaOf(type))
  return { ...form, alternatives: oneOf.flatMap(({ required }) => required) }
}

export function fieldOf(schema: unknown): Field {
  return fieldSchema.parse(schema)
}
