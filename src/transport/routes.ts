import { METHODS } from 'node:http'
import Router, { type RouterContext } from '@koa/router'
import type { Context } from 'koa'
import type { ErrorForm } from '../product/productFacts.ts'
import { errorAnswer, pathNotFound } from './transportError.ts'
import { formErrors, send } from './send.ts'

/** A route of the router. `serve` gets the variable segments as sent, in percent-encoding. */
export interface Route {
  /** An exact path, or one that ends in one or several variable segments: `/artifacts/:name`, `/tile/*path`. */
  readonly path: string
  readonly methods: readonly string[]
  readonly errorForm?: ErrorForm | undefined
  readonly serve: (context: Context, segment: string) => Promise<void>
}

/**
 * Creates the router. Paths are exact and case-sensitive. The first matching route decides, even for methods that it
 * does not serve.
 */
export function createRouter(routes: readonly Route[]): ReturnType<Router['routes']> {
  const router = new Router({ strict: true, sensitive: true })
  for (const route of routes) {
    // Register each route for all methods. The router adds HEAD to every GET, which would sell an answer without a
    // body.
    router.register(route.path, METHODS, (context) => serveRoute(route, context))
  }
  return router.routes()
}

async function serveRoute({ path, methods, serve, errorForm }: Route, context: RouterContext): Promise<void> {
  if (errorForm !== undefined) formErrors(context, errorForm)
  // Metrics count the pattern and not the path, because a caller must not be able to create new series.
  context.state['route'] = path
  if (!methods.includes(context.method)) return refuseMethod(context, methods)
  // Use the capture, which is unchanged: the router's own parameters are percent-decoded.
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

/** Answers requests with a path that no route matches. */
export function refusePath(context: Context): void {
  send(context, pathNotFound())
}
