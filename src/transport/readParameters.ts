import type { FieldProblem } from '@tollbook/core/refusal'
import type { Answer } from '../paywall/answer.ts'
import type { CheckedOrder } from '../product/product.ts'
import type { Endpoint } from '../product/endpoint.ts'
import { parseJson } from './parseJson.ts'
import { parseQuery, shownName } from './parseQuery.ts'
import { invalidRequest } from './transportError.ts'

interface Sent {
  readonly queryText: string
  /** Body of a POST. Undefined for a GET. */
  readonly body: Buffer | undefined
}

/**
 * Reads and checks the parameters of an endpoint, from the query of a GET or the body of a POST. No later code checks
 * them again.
 */
export function readParameters(endpoint: Endpoint, { queryText, body }: Sent): CheckedOrder | Answer {
  const query = parseQuery(queryText)
  if (body === undefined) return query.ok ? check(endpoint, query.values, 'query') : invalidRequest([query.problem])

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
  return check(endpoint, parsed.value, 'body')
}

function check(endpoint: Endpoint, input: unknown, whole: 'query' | 'body'): CheckedOrder | Answer {
  const read = endpoint.read(input)
  return read.ok ? read : invalidRequest(read.issues.flatMap((issue) => problemsOf(issue, whole)).slice(0, problemsMax))
}

const problemsMax = 20

type Issue = Extract<ReturnType<Endpoint['read']>, { ok: false }>['issues'][number]

/**
 * Converts one issue of zod into field problems. An issue about unknown parameters gives one problem for each
 * parameter, not one for their object.
 */
export function problemsOf(issue: Issue, whole: 'query' | 'body'): readonly FieldProblem[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, shownName(key)].join('.'),
      message: 'is not a parameter of this endpoint',
    }))
  }
  if (path.length === 0 && issue.code === 'invalid_type') return [{ field: whole, message: 'must be a JSON object' }]
  return [{ field: path.length === 0 ? whole : path.join('.'), message: issue.message }]
}
