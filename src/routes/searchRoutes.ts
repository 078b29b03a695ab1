import { type FreeSearch, searchParameters } from '../product/freeSearch.ts'
import { jsonAnswer } from '../paywall/answer.ts'
import type { FreeAnswer, FreeRequest, FreeRoute } from '../transport/freeRoute.ts'
import { parseQuery } from '../transport/parseQuery.ts'
import { problemsOf } from '../transport/readParameters.ts'
import { invalidRequest } from '../transport/transportError.ts'

/** Creates the routes of the searches, to which the rate limit of all free routes applies. */
export function createSearchRoutes(searches: readonly FreeSearch[]): readonly FreeRoute[] {
  return searches.map((search) => ({ path: search.path, serve: (request) => Promise.resolve(serve(search, request)) }))
}

// Let caches keep the lists for an hour, because they change only with a release.
const caching = { 'cache-control': 'public, max-age=3600' }

function serve(search: FreeSearch, { query }: FreeRequest): FreeAnswer {
  const sent = parseQuery(query)
  if (!sent.ok) return invalidRequest([sent.problem])
  const read = searchParameters.safeParse(sent.values)
  if (!read.success) return invalidRequest(read.error.issues.flatMap((issue) => problemsOf(issue, 'query')))
  const results = search.find(read.data.query, read.data.limit)
  return jsonAnswer(200, JSON.stringify({ success: true, data: { results, total: results.length } }), caching)
}
