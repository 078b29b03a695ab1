import { z } from 'zod'

/*
 * Reduces a JSON Schema of a service to its structure. Omits titles, descriptions, defaults and examples, because a
 * model would read them as a part of its tools.
 */

export type PlainSchema = Readonly<Record<string, unknown>>

const depthMax = 6
const propertiesMax = 64
const enumMax = 64
const variantsMax = 64
// Maximum nodes and members in the schemas of one document. With references, a small document could describe billions.
const sizeMax = 20_000
const types = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const nodeShape = z.object({
  $ref: z.string().optional(),
  type: z
    .union([types, z.array(types).max(types.options.length)])
    .optional()
    .catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
  maximum: z.number().optional().catch(undefined),
  minLength: z.number().optional().catch(undefined),
  maxLength: z.number().optional().catch(undefined),
})
type Node = z.infer<typeof nodeShape>

// Accept only short words as names and choices, because a sentence could give instructions to a model.
const word = /^[\w.:/+-]{1,40}$/

export interface SchemaPlace {
  readonly document: unknown
  /** Nodes and members that were read so far in this document. */
  readonly read: { size: number }
}

/**
 * Reduces a schema to its structure. A schema that is too deep, too large or invalid becomes empty, which accepts any
 * value.
 */
export function plainSchema(schema: unknown, place: SchemaPlace, depth = 0): PlainSchema {
  const { document, read } = place
  const isRoom = depth <= depthMax && read.size < sizeMax
  const node = isRoom ? nodeShape.safeParse(resolveRef(schema, document)).data : undefined
  if (node === undefined) return {}
  const lists = [Object.keys(node.properties ?? {}), node.enum, node.required, node.anyOf, node.oneOf]
  read.size += lists.reduce((size, list) => size + (list?.length ?? 0), 1)
  const below = (part: unknown) => plainSchema(part, place, depth + 1)
  const { type, minimum, maximum, minLength, maxLength, items } = node
  const choices = (node.enum ?? (node.const === undefined ? [] : [node.const])).filter(isChoice).slice(0, enumMax)
  const variants = (node.anyOf ?? node.oneOf ?? []).slice(0, variantsMax).map(below)
  return dropUndefined({
    type,
    ...(choices.length === 0 ? {} : { enum: choices }),
    ...objectPart(node, below),
    ...(items === undefined ? {} : { items: below(items) }),
    ...(variants.length === 0 ? {} : { anyOf: variants }),
    minimum,
    maximum,
    minLength,
    maxLength,
  })
}

function objectPart({ properties, required = [] }: Node, below: (part: unknown) => PlainSchema) {
  if (properties === undefined) return {}
  const members = Object.entries(properties)
    .filter(([name]) => word.test(name))
    .slice(0, propertiesMax)
  const names = new Set(members.map(([name]) => name))
  return {
    properties: Object.fromEntries(members.map(([name, part]) => [name, below(part)])),
    required: required.filter((name) => names.has(name)),
  }
}

function isChoice(value: unknown): boolean {
  return typeof value === 'string' ? word.test(value) : typeof value === 'number' || typeof value === 'boolean'
}

function dropUndefined(schema: Readonly<Record<string, unknown>>): PlainSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}

const refsMax = 8
const reference = z.object({ $ref: z.string().startsWith('#/') })

/** Follows references within the document only. Undefined if a reference leads nowhere or the chain is too long. */
export function resolveRef(value: unknown, document: unknown): unknown {
  let found = value
  for (let refs = 0; refs < refsMax; refs++) {
    const ref = reference.safeParse(found).data?.$ref
    if (ref === undefined) return found
    found = ref
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((place, part) => memberOf(place, part), document)
  }
  return undefined
}

function memberOf(place: unknown, name: string): unknown {
  // Read the member only, because a copy of the document for each reference would take minutes.
  return typeof place === 'object' && place !== null ? Object.getOwnPropertyDescriptor(place, name)?.value : undefined
}
