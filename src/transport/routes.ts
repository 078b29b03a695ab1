import type { Context, Next } from 'koa'
import type { ErrorForm } from '../product/productFacts.ts'
import { pathOf } from './requestHead.ts'
import { createRouteTable, type FoundRoute } from './routeTable.ts'
import { errorAnswer, pathNotFound } from './transportError.ts'
import { formErrors, send } from './send.ts'

/** `serve` gets the variable segments as sent, in percent-encoding. */
export interface Route {
  /** In the syntax of `createRouteTable`. */
  readonly path: string
  readonly methods: readonly string[]
  readonly errorForm?: ErrorForm | undefined
  readonly serve: (context: Context, segments: readonly string[]) => Promise<void>
}

/** Finds the route by the path alone, and refuses methods that the route does not serve. */
export function createRouter(routes: readonly Route[]): (context: Context, next: Next) => Promise<unknown> {
  const find = createRouteTable(routes)
  return (context, next) => {
    const found = find(pathOf(context.req))
    return found === undefined ? next() : serveRoute(found, context)
  }
}

async function serveRoute({ route, segments }: FoundRoute<Route>, context: Context): Promise<void> {
  const { path, methods, serve, errorForm } = route
  if (errorForm !== undefined) formErrors(context, errorForm)
  // Metrics count the pattern instead of the path, because a caller must not be able to create new series.
  context.state['route'] = path
  // HEAD needs an entry in `methods`, because serving it as GET would sell an answer without a body.
  if (!methods.includes(context.method)) return refuseMethod(context, methods)
  await serve(context, segments)
}

function refuseMethod(context: Context, allowed: readonly string[]): void {
  context.set('allow', allowed.join(', '))
  if (context.method === 'OPTIONS') {
    context.status = 204
    return
  }
  send(context, errorAnswer('METHOD_NOT_ALLOWED', `use ${allowed.join(' or ')} (got ${context.method})`))
}

export function refusePath(context: Context): void {
  send(context, pathNotFound())
}
