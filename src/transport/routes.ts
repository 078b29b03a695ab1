import { METHODS } from 'node:http'
import Router, { type RouterContext } from '@koa/router'
import type { Context } from 'koa'
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

/** Paths are exact and case-sensitive. The first route that matches decides, also about methods that it does not serve. */
export function createRouter(routes: readonly Route[]): ReturnType<Router['routes']> {
  const router = new Router({ strict: true, sensitive: true })
  for (const route of routes) {
    // Registered for all methods: the router adds HEAD to every GET, and would sell an answer without a body.
    router.register(route.path, METHODS, (context) => serveRoute(route, context))
  }
  return router.routes()
}

async function serveRoute({ path, methods, serve, errorForm }: Route, context: RouterContext): Promise<void> {
  if (errorForm !== undefined) formErrors(context, errorForm)
  // Metrics count the pattern and not the path, because a caller must not be able to make new series.
  context.state['route'] = path
  if (!methods.includes(context.method)) return refuseMethod(context, methods)
  // The capture is as it was sent; the router's own parameters are percent-decoded.
  await serve(context, context.captures?.[0] ?? '')
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
