import type { Json } from '@tollbook/core/canonicalJson'
import { fillTemplate, segmentNames } from '@tollbook/core/pathTemplate'
import type { FieldProblem } from '@tollbook/core/refusal'
import type { Answer } from '../paywall/answer.ts'
import type { CheckedOrder, SentParts } from '../product/product.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { hasNoBody } from '../product/productFacts.ts'
import { readSegments } from '../product/productPath.ts'
import { parseJson } from './parseJson.ts'
import { parseQuery, shownName } from './parseQuery.ts'
import { invalidRequest } from './transportError.ts'

interface Sent {
  readonly queryText: string
  readonly path: Readonly<Record<string, string>>
  /** Undefined for a method without a body. */
  readonly body: Buffer | undefined
  readonly header: (name: string) => string | undefined
}

/** Checks all parameters of the request, so that later code does not check them again. */
export function readParameters(endpoint: Endpoint, sent: Sent): CheckedOrder | Answer {
  const { queryText, path, body, header } = sent
  const headers = passedHeaders(endpoint, header)
  const query = parseQuery(queryText)
  if (endpoint.rawBody !== undefined || body === undefined) {
    if (!query.ok) return invalidRequest([query.problem])
    const raw = body === undefined ? {} : { body: { contentType: header('content-type') ?? '', bytes: body } }
    return check(endpoint, { values: query.values, path, whole: 'query', sent: { ...raw, ...headers } })
  }
  const parsed = parseJson(body)
  if (!parsed.ok) return invalidRequest([{ field: 'body', message: parsed.message }])
  if (!query.ok) return invalidRequest([query.problem])
  const strays = Object.keys(query.values)
  if (strays.length > 0) {
    return invalidRequest(
      strays.map((name) => ({
        field: shownName(name),
        message: 'must be in the JSON body; this endpoint has no query parameters',
      })),
    )
  }
  return check(endpoint, { values: parsed.value, path, whole: 'body', sent: headers })
}

/**
 * Returns the headers that are part of the order. Empty if the request has none of them, so that the order equals the
 * same order over MCP.
 */
function passedHeaders({ passedHeaders: names = [] }: Endpoint, header: Sent['header']): SentParts {
  const sent = names.flatMap((name) => {
    const value = header(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return sent.length === 0 ? {} : { headers: Object.fromEntries(sent) }
}

/** Field of a problem that concerns no single parameter. */
type Whole = 'query' | 'body' | 'arguments'

type Values = Readonly<Record<string, Json>>

/** Reads the arguments of a call without HTTP. Also returns the path that the same order would have over HTTP. */
export function readArguments(endpoint: Endpoint, values: Values) {
  const names = segmentNames(endpoint.path)
  const sent = names.map((name) => asSegment(values[name]))
  const path = readSegments(endpoint.path, sent)
  const others = Object.entries(values).filter(([name]) => !names.includes(name))
  const isQuery = hasNoBody(endpoint.method)
  const rest = Object.fromEntries(others.map(([name, value]) => [name, isQuery ? asText(value) : value]))
  const ordered = path.ok
    ? check(endpoint, { values: rest, path: path.values, whole: 'arguments' })
    : invalidRequest([path.problem])
  return { path: fillTemplate(endpoint.path, path.ok ? path.values : {}), ordered }
}

/** Converts numbers and booleans to text, because all values of a query are text, and models also send other types. */
function asText(value: Json): Json {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

/** Returns the value percent-encoded. A value without an encoding becomes an empty text, which every path refuses. */
function asSegment(value: Json | undefined): string {
  const text = value === undefined ? '' : asText(value)
  return typeof text === 'string' && text.isWellFormed() ? encodeURIComponent(text) : ''
}

interface Input {
  readonly values: unknown
  readonly path: Readonly<Record<string, string>>
  readonly whole: Whole
  readonly sent?: SentParts
}

function check(endpoint: Endpoint, { values, path, whole, sent }: Input): CheckedOrder | Answer {
  const names = Object.keys(path)
  const isObject = typeof values === 'object' && values !== null && !Array.isArray(values)
  if (names.length > 0 && !isObject) return invalidRequest([{ field: whole, message: objectExpected }])
  const twice = isObject ? names.filter((name) => Object.hasOwn(values, name)) : []
  if (twice.length > 0) return invalidRequest(twice.map((field) => ({ field, message: 'must be in the path only' })))
  const read = endpoint.read(isObject ? { ...values, ...path } : values, sent)
  return read.ok ? read : invalidRequest(read.issues.flatMap((issue) => problemsOf(issue, whole)).slice(0, problemsMax))
}

const objectExpected = 'must be a JSON object'
const problemsMax = 20

type Issue = Extract<ReturnType<Endpoint['read']>, { ok: false }>['issues'][number]

/**
 * Returns the problems of an issue. An issue about unknown parameters gives one problem for each parameter, not one for
 * their object.
 */
export function problemsOf(issue: Issue, whole: Whole): readonly FieldProblem[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, shownName(key)].join('.'),
      message: 'is not a parameter of this endpoint',
    }))
  }
  if (path.length === 0 && issue.code === 'invalid_type') return [{ field: whole, message: objectExpected }]
  return [{ field: path.length === 0 ? whole : path.join('.'), message: issue.message }]
}
