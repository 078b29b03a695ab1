import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { refusalAnswer } from '../paywall/answer.ts'
import type { RailRequest } from '../paywall/rail.ts'
import type { Sales } from '../paywall/sales.ts'
import type { Admission, Slot, Visitor } from './admission.ts'
import type { CallerLimits, Pass } from './callerLimits.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import type { Connections } from './connections.ts'
import { send } from './send.ts'

/** Limits of callers, and the products and rails by which the purpose of a request is recognised. */
export interface VisitorDeps {
  readonly admission: Admission
  readonly connections: Connections
  readonly limits: CallerLimits
  readonly sales: Pick<Sales, 'rails'>
  readonly endpoints: readonly Endpoint[]
  readonly trustedProxyHops: number
}

export function visitorOf(deps: VisitorDeps, request: IncomingMessage): Visitor {
  const address = limitKey(clientAddress(request, deps.trustedProxyHops))
  return { purpose: purposeOf(deps, request), address }
}

/** Requests with a proof of any rail go before requests for a price. A header proves nothing, so they have their own share. */
export function purposeOf({ sales, endpoints }: VisitorDeps, request: IncomingMessage): Visitor['purpose'] {
  const asked: RailRequest = { mount: undefined, header: (name) => headerOf(request, name) }
  if (sales.rails.some((rail) => rail.carriesProof(asked))) return 'proof'
  const path = pathOf(request)
  return endpoints.some((endpoint) => path.endsWith(endpoint.path)) ? 'quote' : 'read'
}

/** The path without its query, as it was sent. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Our own proxy refuses addresses that cause load without paying, at a fraction of our cost: deploy/haproxy.cfg. It removes this header. */
export function reportAddressState(
  { trustedProxyHops }: VisitorDeps,
  response: ServerResponse,
  state: 'spent' | 'paid',
): void {
  if (trustedProxyHops > 0) response.setHeader('x-address-state', state)
}

/** Answers 429 when the client address has sent too many requests. */
export function withinLimits(deps: VisitorDeps, context: Context): Pass | undefined {
  const pass = deps.limits.enter(visitorOf(deps, context.req).address)
  context.set(pass.headers())
  if (pass.refused === undefined) return pass
  send(context, refusalAnswer(pass.refused))
  return undefined
}

/** Takes a slot for a request that has arrived whole. Undefined when the instance is overloaded. */
export function enter(deps: VisitorDeps, { req, res }: Context): Slot | undefined {
  const slot = deps.admission.enter(visitorOf(deps, req))
  if (slot === undefined) return undefined
  deps.connections.hold(req.socket)
  res.once('close', () => deps.connections.release(req.socket))
  return slot
}

/** A header that is blank is absent. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = String(headers[name] ?? '').trim()
  return value === '' ? undefined : value
}
