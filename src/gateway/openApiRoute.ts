import { segmentNames } from '@tollbook/core/pathTemplate'
import { z } from 'zod'
import { findPathProblem } from '../product/productPath.ts'
import type { Operation } from './openApiDocument.ts'
import { exampleOf, plainSchema, shortText } from './openApiSchema.ts'
import { closedSchema, isSchema, type Schema, SchemaProblem } from './parameterSchema.ts'
import { compileSchema } from './checkParameters.ts'

export interface RouteFacts {
  readonly upstream: string
  readonly prefix: string
  readonly price: unknown
}

export interface ImportedRoute {
  readonly entry: Schema
  readonly remarks: readonly string[]
}

/** Converts an operation to a route. Throws `SchemaProblem` if the operation cannot be sold as a route. */
export function routeOf(operation: Operation, { upstream, prefix, price }: RouteFacts): ImportedRoute {
  const { method, path, answerTypes } = operation
  const name = `${method} ${path}`
  const remarks: string[] = []
  const inputs = inputsOf(operation, remarks)
  const target = targetOf(name, path)
  const soldPath = prefix + target.path
  const problem = findPathProblem(soldPath)
  if (problem !== undefined) throw new SchemaProblem(`operation "${name}": the path ${soldPath} ${problem}`)
  const missing = segmentNames(target.path).find(
    (one) => !inputs.some(({ place, name: own }) => place === 'path' && own === one),
  )
  if (missing !== undefined)
    throw new SchemaProblem(`operation "${name}" has no parameter for {${missing}} of its path`)
  const body = bodyOf(operation, remarks)
  const parameters = parametersOf(name, inputs, body)
  const example = parameters === undefined ? {} : exampleFor(parameters, inputs, body)
  if (example === undefined) remarks.push('has no valid example; write an order in `example`')
  const query = inputs.filter(({ place }) => place === 'query').map(({ name: own }) => own)
  const hasBody = method !== 'GET' && method !== 'DELETE' && body.types === undefined
  const entry = {
    path: soldPath,
    ...(method === 'GET' ? {} : { method }),
    summary: shortText(operation.summary ?? name, summaryLengthMax),
    upstream,
    to: target.to,
    price,
    ...(parameters === undefined ? {} : { parameters }),
    ...(hasBody && query.length > 0 ? { query } : {}),
    ...(arraysOf(name, inputs) === 'comma' ? { arrays: 'comma' } : {}),
    ...(body.types === undefined ? {} : { body: { content_types: body.types } }),
    ...(example === undefined || Object.keys(example).length === 0 ? {} : { example }),
    ...answersOf(answerTypes),
  }
  return { entry, remarks: remarks.map((remark) => `${name}: ${remark}`) }
}

const summaryLengthMax = 150

const parameterShape = z.looseObject({
  name: z.string().min(1),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.unknown().optional(),
  content: z.record(z.string(), z.looseObject({ schema: z.unknown().optional() })).optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  example: z.unknown().optional(),
  examples: z
    .union([z.record(z.string(), z.looseObject({ value: z.unknown().optional() })), z.array(z.unknown())])
    .optional(),
})
type Parameter = z.infer<typeof parameterShape>

interface Input {
  /** Name of the parameter in the route. In a path, it can differ from the name in the document. */
  readonly name: string
  readonly place: 'path' | 'query'
  readonly isRequired: boolean
  readonly schema: Schema
  /** Two example values: the document's example, and the simplest value that the schema allows. */
  readonly examples: readonly [given: unknown, simple: unknown]
  readonly style: string
  readonly explode: boolean
}

/**
 * Returns the parameters in path and query. A later parameter replaces an earlier one with the same name and place,
 * because operations override their path item.
 */
function inputsOf({ parameters, method, path }: Operation, remarks: string[]): readonly Input[] {
  const read = new Map<string, Parameter>()
  for (const parameter of parameters) {
    const parsed = parameterShape.safeParse(parameter)
    if (!parsed.success) throw new SchemaProblem(`operation "${method} ${path}" has a parameter that is not valid`)
    read.set(`${parsed.data.in} ${parsed.data.name}`, parsed.data)
  }
  return [...read.values()].flatMap((parameter) => {
    if (parameter.in === 'path' || parameter.in === 'query') return [inputOf(parameter, parameter.in)]
    if (parameter.required)
      remarks.push(
        `needs the ${parameter.in} "${parameter.name}"; write it in \`headers\` of the upstream, or in \`forward.request\``,
      )
    return []
  })
}

function inputOf(parameter: Parameter, place: Input['place']): Input {
  // The defaults are those of OpenAPI: `simple` in a path, `form` in a query, and `explode` only with `form`.
  const { name, description, required, content = {}, style = place === 'path' ? 'simple' : 'form' } = parameter
  const given = plainSchema(parameter.schema ?? Object.values(content)[0]?.schema ?? {})
  const { examples } = parameter
  const [listed] = Array.isArray(examples) ? examples : Object.values(examples ?? {}).map(({ value }) => value)
  return {
    name: place === 'path' ? segmentName(name) : name,
    place,
    isRequired: place === 'path' || required,
    schema: {
      ...(isSchema(given) ? given : {}),
      ...(description === undefined ? {} : { description: shortText(description) }),
    },
    examples: [parameter.example ?? listed ?? exampleOf(parameter.schema), exampleOf(given, true)],
    style,
    explode: parameter.explode ?? style === 'form',
  }
}

/** Replaces other characters than letters, digits and underscores, because callers' programs use these names. */
const segmentName = (name: string) => name.replaceAll(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_')

/**
 * Returns the path of the route and the path at the upstream. Replaces unusual characters only in the route's path,
 * because the upstream serves only its original path.
 */
function targetOf(name: string, path: string) {
  const segments = path.split('/').slice(1)
  if (!/^[\x21-\x7e]+$/.test(path) || /[#?\\]/.test(path))
    throw new SchemaProblem(`operation "${name}" has a path that is not one`)
  const mixed = segments.find((segment) => /[{}]/.test(segment) && !/^\{[^{}]+\}$/.test(segment))
  if (mixed !== undefined)
    throw new SchemaProblem(`operation "${name}" has "${mixed}" in its path; a parameter must be a whole segment`)
  const withName = (segment: string) => `{${segmentName(segment.slice(1, -1))}}`
  const written = segments.map((segment) => (segment.startsWith('{') ? withName(segment) : segment))
  const plain = written.map((segment) =>
    segment.startsWith('{') ? segment : segment.replaceAll(/[^A-Za-z0-9._-]+/g, '-'),
  )
  return {
    path: `/${plain.filter((segment) => segment !== '').join('/')}`.replace(/^\/$/, ''),
    to: `/${written.join('/')}`,
  }
}

interface Body {
  readonly schema: Schema | undefined
  readonly examples: Input['examples']
  /** Media types of a raw body. Undefined if the body is JSON or absent. */
  readonly types: readonly string[] | undefined
}

const bodyShape = z.looseObject({
  content: z
    .record(
      z.string(),
      z.looseObject({
        schema: z.unknown().optional(),
        example: z.unknown().optional(),
        examples: z.unknown().optional(),
      }),
    )
    .default({}),
})

function bodyOf({ method, path, requestBody }: Operation, remarks: string[]): Body {
  const { content } = bodyShape.parse(requestBody)
  const types = Object.keys(content)
  const none = { schema: undefined, examples: [undefined, undefined], types: undefined } as const
  if (types.length === 0 || method === 'GET' || method === 'DELETE') return none
  const json =
    types.find((type) => /^application\/json\s*(;|$)/i.test(type)) ?? types.find((type) => /\+json\s*(;|$)/i.test(type))
  if (json === undefined) {
    const plain = withoutParameters(types).filter((type) => !type.includes('*'))
    if (plain.length === 0)
      throw new SchemaProblem(`operation "${method} ${path}" takes any media type; write its route by hand`)
    return { ...none, types: plain }
  }
  if (types.length > 1) remarks.push(`takes ${types.join(' and ')}; the route takes application/json only`)
  const media = content[json]
  const [listed] = Object.values(isSchema(media?.examples) ? media.examples : {})
  const example = media?.example ?? (isSchema(listed) ? listed['value'] : undefined) ?? exampleOf(media?.schema)
  const schema = plainSchema(media?.schema ?? { type: 'object' })
  return { ...none, schema: isSchema(schema) ? schema : {}, examples: [example, exampleOf(schema, true)] }
}

function withoutParameters(types: readonly string[]): readonly string[] {
  return types.map((type) => type.split(';')[0]?.trim().toLowerCase() ?? '')
}

const combinators = ['allOf', 'anyOf', 'oneOf', 'if', 'not']

/** Returns the schema of the parameters. Undefined if the operation has no parameters. */
function parametersOf(name: string, inputs: readonly Input[], { schema: body }: Body): Schema | undefined {
  const twice = inputs.find((input, index) => inputs.findIndex((other) => other.name === input.name) !== index)
  if (twice !== undefined) throw new SchemaProblem(`operation "${name}" has two parameters "${twice.name}"`)
  const properties = Object.fromEntries(inputs.map((input) => [input.name, input.schema]))
  const required = inputs.filter((input) => input.isRequired).map((input) => input.name)
  if (body === undefined) {
    if (inputs.length === 0) return undefined
    return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
  }
  if (body['type'] !== undefined && body['type'] !== 'object')
    throw new SchemaProblem(`operation "${name}" takes a body that is not a JSON object; write its route by hand`)
  if (inputs.length === 0) return { type: 'object', ...body }
  const members = isSchema(body['properties']) ? body['properties'] : {}
  const common = Object.keys(members).find((member) => member in properties)
  if (common !== undefined)
    throw new SchemaProblem(
      `operation "${name}" has "${common}" in its body and outside of it; write its route by hand`,
    )
  if (combinators.some((keyword) => keyword in body)) {
    // Open the body's schema: a closed schema within `allOf` would refuse the parameters of path and query.
    const { additionalProperties: _closed, unevaluatedProperties: _alsoClosed, ...open } = body
    return { type: 'object', properties, required, allOf: [open] }
  }
  const bodyRequired: unknown[] = Array.isArray(body['required']) ? body['required'] : []
  return {
    ...body,
    type: 'object',
    properties: { ...properties, ...members },
    required: [...required, ...bodyRequired],
  }
}

/**
 * Returns how the route writes arrays. Throws `SchemaProblem` for unsupported or mixed styles, because a route writes
 * all its arrays in the same style.
 */
function arraysOf(name: string, inputs: readonly Input[]): 'comma' | 'repeat' {
  const inQuery = inputs.filter(({ place }) => place === 'query')
  const inPath = inputs.filter(({ place }) => place === 'path')
  const list = inPath.find(({ style, schema }) => style !== 'simple' || isArray(schema) || schema['type'] === 'object')
  if (list !== undefined)
    throw new SchemaProblem(`operation "${name}" writes "${list.name}" in its path in a style that is not supported`)
  const odd = inQuery.find(({ style }) => style !== 'form')
  if (odd !== undefined)
    throw new SchemaProblem(
      `operation "${name}" writes "${odd.name}" in the style ${odd.style}; only form is supported`,
    )
  const arrays = inQuery.filter(({ schema }) => isArray(schema))
  const joined = arrays.filter(({ explode }) => !explode)
  if (joined.length > 0 && joined.length < arrays.length)
    throw new SchemaProblem(`operation "${name}" joins some arrays and repeats others; write its route by hand`)
  return joined.length > 0 ? 'comma' : 'repeat'
}

function isArray({ type, oneOf, anyOf }: Schema): boolean {
  const options = [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return (
    type === 'array' ||
    (Array.isArray(type) && type.includes('array')) ||
    options.some((one) => isSchema(one) && isArray(one))
  )
}

/**
 * Returns an example order for the API documents. Tries the examples of the OpenAPI document for the required
 * parameters, then the simplest values, then an empty order. Undefined if none of these orders is valid.
 */
function exampleFor(parameters: Schema, inputs: readonly Input[], body: Body): Schema | undefined {
  const check = compileSchema(closedSchema(parameters))
  const orders = ([0, 1] as const).map((kind) => {
    const required = inputs.filter(({ isRequired }) => isRequired)
    const content = body.examples[kind]
    return {
      ...Object.fromEntries(required.map(({ name, examples }) => [name, examples[kind]])),
      ...(isSchema(content) ? content : {}),
    }
  })
  return [...orders, {}].find((one) => check(one).length === 0)
}

function answersOf(types: readonly string[]): Schema {
  const plain = [...new Set(withoutParameters(types))].filter((type) => type !== '')
  const isPlainJson = plain.every((type) => type === 'application/json')
  return {
    ...(plain.length === 0 || isPlainJson ? {} : { content_types: plain }),
    ...(plain.includes('text/event-stream') ? { stream: 'passthrough' } : {}),
  }
}
