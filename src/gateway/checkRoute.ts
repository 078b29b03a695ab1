import { segmentNames } from '@tollbook/core/pathTemplate'
import { hasNoBody } from '../product/productFacts.ts'
import { type CheckParameters, compileSchema, hasInnerComma, isSegment } from './checkParameters.ts'
import { type Checked, type FileMistake, type FilePath, listOf, unknownName } from './fileMistake.ts'
import {
  closedSchema,
  findPatterns,
  inlineReferences,
  isSchema,
  type Schema,
  SchemaProblem,
} from './parameterSchema.ts'
import { hasOnlyJson, type RouteEntry, type UpstreamEntry } from './productsFile.ts'
import { readPrices, type RoutePrices } from './routePrices.ts'
import { findUnitProblem } from './usePrice.ts'
import { fixedNames, hasJsonBody, isJoined, readTarget } from './routeRequest.ts'

export interface CheckedRoute {
  readonly route: RouteEntry
  readonly schema: Schema
  readonly check: CheckParameters
  readonly prices: RoutePrices
}

export interface RouteContext {
  readonly file: string
  readonly at: FilePath
  readonly upstreams: ReadonlyMap<string, UpstreamEntry>
  /**
   * Names of all upstreams, including those with a mistake. A route to such an upstream is then not reported as
   * unknown.
   */
  readonly upstreamNames: readonly string[]
  readonly earlier: readonly CheckedRoute[]
  /** Time after which the service ends every attempt, in milliseconds. */
  readonly handlerTimeoutMs: number
}

/**
 * Collects the mistakes of a route, so that the operator does not find them one start at a time. Prices, target and
 * example are checked only with a valid schema.
 */
export function checkRoute(route: RouteEntry, context: RouteContext): Checked<CheckedRoute> {
  const { at } = context
  const loaded = loadSchema(route, context)
  const own = [...pathMistakes(route, context), ...upstreamMistakes(route, context)]
  if ('mistakes' in loaded) return { mistakes: [...own, ...loaded.mistakes] }
  const { schema, check } = loaded
  const prices = readPrices(route.price, schema, [...at, 'price'])
  const mistakes = [
    ...own,
    ...targetMistakes(route, schema, at),
    ...exampleMistakes(route, loaded, at),
    ...('mistakes' in prices ? prices.mistakes : unitMistakes(route, prices.prices, at)),
  ]
  return mistakes.length > 0 || 'mistakes' in prices ? { mistakes } : { route, schema, check, prices: prices.prices }
}

function unitMistakes(route: RouteEntry, { unit }: RoutePrices, at: FilePath): readonly FileMistake[] {
  const message = unit === undefined ? undefined : findUnitProblem(unit, route)
  return message === undefined ? [] : [{ path: [...at, 'price', 'use'], message }]
}

type LoadedSchema = Pick<CheckedRoute, 'schema' | 'check'>

const noParameters: Schema = { type: 'object', properties: {} }

function loadSchema({ parameters = noParameters }: RouteEntry, { file, at }: RouteContext): Checked<LoadedSchema> {
  const path = [...at, 'parameters']
  try {
    const schema = closedSchema(inlineReferences(parameters, { file, root: parameters, documents: new Map() }))
    const patterns = findPatterns(schema, path)
    if (patterns.length > 0) return { mistakes: patterns }
    if (schema['type'] !== 'object') return { mistakes: [{ path: [...path, 'type'], message: 'must be object' }] }
    return { schema, check: compileSchema(schema) }
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error
    return { mistakes: [{ path, message: error.message }] }
  }
}

function pathMistakes(route: RouteEntry, { at, earlier }: RouteContext): readonly FileMistake[] {
  // `/a/{x}` and `/a/{y}` are equal, because they match the same requests. One path has one product, whatever the
  // method (decision 0071).
  const shapeOf = (path: string) => path.replaceAll(/\{[^}]*\}/g, '{}')
  const mistakes: FileMistake[] = []
  if (earlier.some((other) => shapeOf(other.route.path) === shapeOf(route.path)))
    mistakes.push({ path: [...at, 'path'], message: 'is sold by an earlier route; one path has one product' })
  if (route.body.content_types !== undefined && hasNoBody(route.method))
    mistakes.push({ path: [...at, 'body'], message: `cannot be used with ${route.method}, which has no body` })
  if (route.answer === 'envelope' && !hasOnlyJson(route))
    mistakes.push({ path: [...at, 'answer'], message: 'can be `envelope` only if all `content_types` are JSON' })
  if (route.answer === 'envelope' && route.stream === 'passthrough')
    mistakes.push({ path: [...at, 'stream'], message: 'cannot be `passthrough` in an envelope; remove one of them' })
  return mistakes
}

function upstreamMistakes(route: RouteEntry, { at, upstreams, upstreamNames, handlerTimeoutMs }: RouteContext) {
  const mistakes: FileMistake[] = []
  const upstream = upstreams.get(route.upstream)
  if (!upstreamNames.includes(route.upstream))
    mistakes.push({
      path: [...at, 'upstream'],
      message: `"${route.upstream}" ${unknownName(route.upstream, upstreamNames)}`,
    })
  if (upstream !== undefined) mistakes.push(...protocolMistakes(route, upstream, at))
  const timeout = route.timeout ?? upstream?.timeout ?? 0
  if (timeout >= handlerTimeoutMs)
    mistakes.push({
      path: [...at, route.timeout === undefined ? 'upstream' : 'timeout'],
      message: `has a timeout of ${timeout} ms, but HANDLER_TIMEOUT_MS ends every attempt after ${handlerTimeoutMs} ms; lower the one or raise the other`,
    })
  return mistakes
}

function protocolMistakes(route: RouteEntry, { url, mcp }: UpstreamEntry, at: FilePath): readonly FileMistake[] {
  if ((url === undefined) === (mcp === undefined))
    return [{ path: ['upstreams', route.upstream], message: 'needs either `url` or `mcp`' }]
  if (mcp === undefined)
    return route.to !== undefined && route.tool === undefined
      ? []
      : [{ path: at, message: 'needs `to`, the path at the upstream, and no `tool`' }]
  if (route.tool === undefined || route.to !== undefined)
    return [{ path: at, message: 'needs `tool`, the name of a tool of the MCP server, and no `to`' }]
  if (route.parameters === undefined)
    return [{ path: at, message: 'needs `parameters`: copy the input schema of the tool' }]
  const isPlain = route.body.content_types === undefined && route.stream === 'never'
  return isPlain ? [] : [{ path: at, message: 'sells results of a tool, which have no raw body and no stream' }]
}

function targetMistakes(route: RouteEntry, schema: Schema, at: FilePath): readonly FileMistake[] {
  const { inPath, problem } = readTarget(route.to ?? '/')
  if (problem !== undefined) return [{ path: [...at, 'to'], message: problem }]
  const properties = isSchema(schema['properties']) ? Object.keys(schema['properties']) : []
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const notOne = `which is not a parameter; the parameters are ${listOf(properties)}`
  const isKnown = (name: string) => properties.includes(name)
  const mistake = (member: string, message: string): FileMistake => ({ path: [...at, member], message })
  const isMisplaced = route.query.length > 0 && !hasJsonBody(route)
  return [
    // Refuse a fixed query parameter that is also an order parameter, because the upstream could use the fixed value
    // instead of the priced one.
    ...fixedNames(route)
      .filter(isKnown)
      .map((name) => mistake('to', `fixes ${name}, which is also a parameter; remove one of them`)),
    ...segmentNames(route.path)
      .filter((name) => !isKnown(name))
      .map((name) => mistake('path', `names {${name}}, ${notOne}`)),
    ...inPath.filter((name) => !isKnown(name)).map((name) => mistake('to', `names {${name}}, ${notOne}`)),
    ...inPath
      .filter((name) => isKnown(name) && !required.includes(name))
      .map((name) => mistake('to', `names {${name}}, which an order can leave out; add it to \`parameters.required\``)),
    ...route.query.flatMap((name, index) =>
      isKnown(name) ? [] : [{ path: [...at, 'query', index], message: notOne.replace('which ', '') }],
    ),
    ...(isMisplaced
      ? [mistake('query', 'is for routes with a JSON body; the other parameters of this route are in the query')]
      : []),
  ]
}

function exampleMistakes(route: RouteEntry, { check }: LoadedSchema, at: FilePath): readonly FileMistake[] {
  const { example, to } = route
  const [problem] = check(example)
  const joined = Object.keys(example).find((name) => isJoined(route, name) && hasInnerComma(example[name] ?? null))
  const outside = readTarget(to ?? '/').inPath.find((name) => name in example && !isSegment(example[name]))
  const path = [...at, 'example']
  if (outside !== undefined) return [{ path, message: `has ${outside}, which is not one segment of a path` }]
  if (joined !== undefined)
    return [{ path, message: `has a comma inside an item of ${joined}, which \`arrays\` joins by commas` }]
  if (problem === undefined) return []
  const place = problem.instancePath === '' ? '' : `${problem.instancePath} `
  return [
    { path, message: `must be an order that the parameters allow: ${place}${problem.message ?? 'is not allowed'}` },
  ]
}
