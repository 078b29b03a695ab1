import type { Context, Middleware } from 'koa'
import { assert } from '@tollbook/core/assert'
import type { ErrorForm } from '../product/productFacts.ts'
import { errorAnswer, pathNotFound } from './transportError.ts'
import { formErrors, send } from './send.ts'

/** Segments that vary are handed to `serve` as they were sent, percent-encoded. */
export interface Route {
  /** Exact, or with one last segment that varies, or several: `/artifacts/:name`, `/tile/*path`. */
  readonly path: string
  readonly methods: readonly string[]
  readonly errorForm?: ErrorForm | undefined
  readonly serve: (context: Context, segment: string) => Promise<void>
}

/**
 * Paths are exact and case-sensitive. The route of a path also decides about methods that it does not serve. An exact path costs
 * one lookup, however many routes there are; those that vary are tried in turn.
 */
export function createRouter(routes: readonly Route[]): Middleware {
  const fixed = routes.filter((route) => !varies(route))
  const exact = new Map(fixed.map((route) => [route.path, route]))
  assert(exact.size === fixed.length, 'no two routes have the same path')
  const varying = routes.filter(varies)
  return async (context, next) => {
    const { path } = context
    const fitting = exact.get(path) ?? varying.find((route) => segmentOf(route, path) !== '')
    return fitting === undefined ? next() : serveRoute(fitting, context)
  }
}

const variable = /[:*]/

function varies({ path }: Route): boolean {
  return variable.test(path)
}

/** The part of a path that varies: one segment for `:name`, the rest for `*path`. Empty when the path is not of this route. */
function segmentOf({ path: pattern }: Pick<Route, 'path'>, path: string): string {
  const start = pattern.search(variable)
  if (start === -1 || !path.startsWith(pattern.slice(0, start))) return ''
  const segment = path.slice(start)
  return pattern[start] === ':' && segment.includes('/') ? '' : segment
}

async function serveRoute(route: Route, context: Context): Promise<void> {
  const { path, methods, serve, errorForm } = route
  if (errorForm !== undefined) formErrors(context, errorForm)
  // Metrics count the pattern and not the path, because a caller must not be able to make new series.
  context.state['route'] = path
  if (!methods.includes(context.method)) return refuseMethod(context, methods)
  await serve(context, segmentOf(route, context.path))
}

function refuseMethod(context: Context, allowed: readonly string[]): void {
  context.set('allow', allowed.join(', '))
  if (context.method === 'OPTIONS') {
    context.status = 204
    return
  }
  send(context, errorAnswer('METHOD_NOT_ALLOWED', `use ${allowed.join(' or ')} (got ${context.method})`))
}

/** Answers requests whose path no route has. */
export function refusePath(context: Context): void {
  send(context, pathNotFound())
}
