import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { z } from 'zod'
import { isWellFormed, type Json } from '@tollbook/core/canonicalJson'
import { isSchema, type Schema, SchemaProblem } from './parameterSchema.ts'

export type Parameters = Readonly<Record<string, Json>>

/** An empty list means that the schema allows the order. */
export type CheckParameters = (input: unknown) => readonly ErrorObject[]

const ajv = new Ajv2020({
  // Refuse unknown keywords and formats, because they are mistakes: Ajv would ignore them.
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowUnionTypes: true,
  // Report all problems at once. The work is bounded, because bodies and queries have a maximum size.
  allErrors: true,
  logger: false,
})
ajvFormats.default(ajv)
// The package's expression for `url` takes quadratic time: 7 s for a body of 64 KiB.
const urlCharactersMax = 2_048
const url = ajv.formats['url']
ajv.addFormat('url', (text) => text.length <= urlCharactersMax && url instanceof RegExp && url.test(text))

export const isKnownKeyword = (name: string) => ajv.RULES.keywords[name] === true
export const isKnownFormat = (name: string) => Object.hasOwn(ajv.formats, name)

/** Throws `SchemaProblem` unless the schema is valid JSON Schema 2020-12. References must be inlined first. */
export function compileSchema(schema: Schema): CheckParameters {
  try {
    const validate = ajv.compile(schema)
    return (input) => (validate(input) ? [] : [...(validate.errors ?? [])])
  } catch (error) {
    throw new SchemaProblem(`is not valid JSON Schema 2020-12: ${error instanceof Error ? error.message : 'unknown'}`)
  }
}

export interface ParameterRules {
  readonly schema: Schema
  readonly check: CheckParameters
  /** Names of the parameters that become segments of the upstream's path. */
  readonly inPath: readonly string[]
  /** True if the upstream gets the items of this parameter separated by commas. */
  readonly isJoined: (name: string) => boolean
  /** Names that the route itself writes into the query. */
  readonly fixed: readonly string[]
  /** Names that the service reads even if the schema does not list them. */
  readonly known?: readonly string[]
}

/**
 * Returns the type of an order. `read` converts texts first, because a query has no types, and the schema checks the
 * result. Documents show the schema as the operator wrote it.
 */
export function parametersType(
  { schema, check, inPath, isJoined, fixed, known = [] }: ParameterRules,
  read: (input: unknown) => unknown,
): z.ZodType<Parameters> {
  const namesRead = { properties: Object.fromEntries(known.map((name) => [name, true])) }
  return z
    .unknown()
    .transform((input, context) => {
      const order = read(input)
      const problems = check(order).slice(0, problemsMax)
      for (const problem of problems) context.addIssue(issueOf(problem))
      if (problems.length > 0) return z.NEVER
      const parsed = jsonObject.safeParse(order)
      if (!parsed.success || !isWellFormed(parsed.data)) {
        context.addIssue({ code: 'custom', message: 'must be a JSON object without lone surrogates' })
        return z.NEVER
      }
      // Refuse values that are not one path segment before the service quotes a price.
      for (const name of inPath.filter((one) => !isSegment(parsed.data[one])))
        context.addIssue({ code: 'custom', path: [name], message: segmentRule })
      // Refuse an item with a comma: the upstream would read it as several items, although the price counts one.
      for (const [name, value] of Object.entries(parsed.data))
        if (isJoined(name) && hasInnerComma(value))
          context.addIssue({ code: 'custom', path: [name], message: 'must have no comma inside an item' })
      for (const path of findTwins(parsed.data, [schema, namesRead], fixed))
        context.addIssue({ code: 'custom', path: [...path], message: twinRule })
      return parsed.data
    })
    .meta(schema)
}

/**
 * Finds undeclared members of an open schema that some servers read as another parameter: they ignore the case of
 * names, and use the last of two equal names. The API would get another value than the price is for. A name is declared
 * if any of the combined schemas has it.
 */
function findTwins(
  order: unknown,
  schemas: readonly unknown[],
  fixed: readonly string[] = [],
): readonly (readonly string[])[] {
  const parts = schemas.flatMap(partsOf)
  const within = (name: string, value: unknown, innerOf: (part: SchemaPart) => readonly unknown[]) =>
    findTwins(value, parts.flatMap(innerOf)).map((path) => [name, ...path])
  if (Array.isArray(order))
    return order.flatMap((item, index) => within(String(index), item, ({ schema }) => itemsOf(schema, index)))
  if (!isSchema(order)) return []
  const written = new Set(fixed.map(foldedName))
  return Object.entries(order).flatMap(([name, value]) => {
    const declaredIn = ({ properties }: SchemaPart) => (Object.hasOwn(properties, name) ? [properties[name]] : [])
    if (parts.some((part) => declaredIn(part).length > 0)) return within(name, value, declaredIn)
    const folded = foldedName(name)
    if (written.has(folded) || parts.some(({ names }) => names.has(folded))) return [[name]]
    return within(name, value, ({ schema }) => [schema['additionalProperties']])
  })
}

interface SchemaPart {
  readonly schema: Schema
  readonly properties: Schema
  /** The names of the properties, folded. */
  readonly names: ReadonlySet<string>
}

// Parts of the schemas in use, because an order can have a thousand members that the same large schema describes.
const partsBySchema = new WeakMap<Schema, readonly SchemaPart[]>()

/** Returns the schema and all schemas that are combined in it. */
function partsOf(schema: unknown): readonly SchemaPart[] {
  if (!isSchema(schema)) return []
  const known = partsBySchema.get(schema)
  if (known !== undefined) return known
  const { allOf, anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas } = schema
  const combined = [allOf, anyOf, oneOf, condition, then, otherwise, Object.values(Object(dependentSchemas))].flat()
  const properties = isSchema(schema['properties']) ? schema['properties'] : {}
  const own = { schema, properties, names: new Set(Object.keys(properties).map(foldedName)) }
  const parts = [own, ...combined.flatMap(partsOf)]
  partsBySchema.set(schema, parts)
  return parts
}

function itemsOf({ items, prefixItems }: Schema, index: number): readonly unknown[] {
  return [items, ...(Array.isArray(prefixItems) ? prefixItems.slice(index, index + 1) : [])]
}

// Use NFKC, because the JSON decoder of Go also reads `\u017f` as `s`.
const foldedName = (name: string) => name.normalize('NFKC').toLowerCase()

export function hasInnerComma(value: Json): boolean {
  return Array.isArray(value) && value.some((item) => JSON.stringify(item).includes(','))
}

/**
 * True for a value that is one path segment. Excludes percent signs and separators, because a server may decode a path
 * before it splits the path into segments.
 */
export function isSegment(value: Json | undefined): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value)
  return text !== '' && text.length <= 512 && text !== '.' && text !== '..' && !/[/\\%?#;\p{Cc}]/u.test(text)
}

const jsonObject = z.record(z.string(), z.json())
// Maximum of problems, because an answer lists no more.
const problemsMax = 20
const twinRule = 'must be absent, because the API may read it as another parameter'
const segmentRule = 'must be one segment of a path, without / \\ % ? # ;'

function issueOf({
  keyword,
  instancePath,
  params,
  message = 'is not allowed',
}: ErrorObject): z.core.$ZodSuperRefineIssue {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = paramsShape.parse(params)
  const stray = found.additionalProperty ?? found.unevaluatedProperty
  if (stray !== undefined) return { code: 'unrecognized_keys', keys: [stray], path, input: {} }
  if (found.missingProperty !== undefined)
    return { code: 'custom', path: [...path, found.missingProperty], message: 'is required', input: undefined }
  const allowed = keyword === 'enum' ? found.allowedValues : keyword === 'const' ? [found.allowedValue] : undefined
  const shown = allowed === undefined ? message : `must be one of ${JSON.stringify(allowed).slice(1, -1)}`
  return { code: 'custom', path, message: shown.slice(0, messageLengthMax), input: undefined }
}

// Messages of Ajv can list every value of an `enum`.
const messageLengthMax = 300

const paramsShape = z.object({
  additionalProperty: z.string().optional(),
  unevaluatedProperty: z.string().optional(),
  missingProperty: z.string().optional(),
  allowedValues: z.array(z.unknown()).optional(),
  allowedValue: z.unknown().optional(),
})
