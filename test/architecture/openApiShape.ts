import { z } from 'zod'

/*
 * The structure of OpenAPI 3.1 as far as the document uses it. Strict: a misspelt key fails, and what the document
 * begins to use has to be added here, from the specification.
 */

const ref = z.strictObject({
  $ref: z.string().regex(/^#\/components\/(schemas|parameters|responses|headers)\/[\w.-]+$/),
})
const orRef = <T extends z.ZodType>(type: T) => z.union([ref, type])
/** Names that begin with x- are allowed anywhere in it. */
const extensible = <T extends z.ZodRawShape>(shape: T) =>
  z
    .object(shape)
    .catchall(z.json())
    .refine(
      (given) => Object.keys(given).every((key) => Object.hasOwn(shape, key) || key.startsWith('x-')),
      'unknown key',
    )

const jsonSchema = z.record(z.string(), z.json())
const example = z.strictObject({ summary: z.string().optional(), value: z.json() })
const mediaType = z.strictObject({
  schema: jsonSchema.optional(),
  example: z.json().optional(),
  examples: z.record(z.string(), example).optional(),
})
const content = z.record(z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), mediaType)
const header = z.strictObject({ description: z.string().optional(), schema: jsonSchema })
const parameter = z
  .strictObject({
    name: z.string().min(1),
    in: z.enum(['query', 'header', 'path']),
    required: z.boolean().optional(),
    description: z.string().optional(),
    schema: jsonSchema,
    example: z.json().optional(),
  })
  .refine((given) => given.in !== 'path' || given.required === true, 'a parameter of the path is required')
const response = z.strictObject({
  description: z.string().min(1),
  headers: z.record(z.string(), orRef(header)).optional(),
  content: content.optional(),
})
const operation = extensible({
  operationId: z.string().regex(/^\w+$/),
  tags: z.array(z.string()),
  summary: z.string().min(1),
  description: z.string().optional(),
  parameters: z.array(orRef(parameter)).optional(),
  requestBody: z.strictObject({ required: z.boolean(), description: z.string(), content }).optional(),
  responses: z.record(z.string().regex(/^[1-5]\d\d$/), orRef(response)),
})
const componentName = z.string().regex(/^[\w.-]+$/)

export const openApiShape = extensible({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({
    title: z.string(),
    version: z.string(),
    summary: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.string() })).min(1),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string().regex(/^\//), z.strictObject({ get: operation.optional(), post: operation.optional() })),
  components: z.strictObject({
    schemas: z.record(componentName, jsonSchema),
    responses: z.record(componentName, response),
    parameters: z.record(componentName, parameter),
    headers: z.record(componentName, header),
  }),
})

export type OpenApi = z.infer<typeof openApiShape>
