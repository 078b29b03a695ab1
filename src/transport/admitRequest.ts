import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import { refusalAnswer } from '../paywall/answer.ts'
import type { RailRequest } from '../paywall/rail.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { Sales } from '../paywall/sales.ts'
import type { Admission, AdmissionRequest, Purpose, Permit } from './admission.ts'
import type { CallerLimits, Pass } from './callerLimits.ts'
import { clientAddress, limitKey } from './clientAddress.ts'
import type { Connections } from './connections.ts'
import { headerOf, pathOf } from './requestHead.ts'
import { send } from './send.ts'

/** Admission control, with the products, rails and routes that determine the purpose of a request. */
export interface AdmitDeps {
  readonly admission: Admission
  readonly connections: Connections
  readonly limits: CallerLimits
  readonly sales: Pick<Sales, 'rails'>
  /** The path is as sent and may contain a mount. */
  readonly findSold: (path: string) => Endpoint | undefined
  /** Routes whose requests can carry a payment in the body. */
  readonly messages?: readonly { readonly path: string }[]
  readonly trustedProxyHops: number
}

// Requests whose purpose is known, because one request is looked up several times.
const known = new WeakMap<IncomingMessage, AdmissionRequest>()

export function admissionRequestOf(deps: AdmitDeps, request: IncomingMessage): AdmissionRequest {
  const asked = known.get(request) ?? readRequest(deps, request)
  known.set(request, asked)
  return asked
}

function readRequest(deps: AdmitDeps, request: IncomingMessage): AdmissionRequest {
  const address = limitKey(clientAddress(request, deps.trustedProxyHops))
  return { purpose: purposeOf(deps, request), address }
}

export function repurpose(deps: AdmitDeps, request: IncomingMessage, purpose: Purpose): void {
  known.set(request, { ...admissionRequestOf(deps, request), purpose })
}

export function limitAddressOf(deps: AdmitDeps, request: IncomingMessage): string {
  return admissionRequestOf(deps, request).address
}

/**
 * Returns the purpose of the request. A request with the header of a proof counts in a separate share, because anyone
 * can send this header. A message that is long enough for a payment counts as a proof until its body is read.
 */
function purposeOf({ sales, findSold, messages = [] }: AdmitDeps, request: IncomingMessage): Purpose {
  const asked: RailRequest = { mount: undefined, header: (name) => headerOf(request, name) }
  if (sales.rails.some((rail) => rail.carriesProof(asked))) return 'proof'
  const path = pathOf(request)
  if (messages.some((message) => message.path === path)) return hasRoomForPayment(request) ? 'proof' : 'quote'
  return findSold(path) === undefined ? 'read' : 'quote'
}

// A call with a payment of x402 or MPP has 2 kB or more, and a call without one has less than 1 kB. A flood of unpaid
// calls can therefore be refused before its bodies are read.
const paymentBytesMin = 1_000

function hasRoomForPayment({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? paymentBytesMin) >= paymentBytesMin
}

/**
 * Reports the state of the client address to the operator's proxy, which removes this header (deploy/haproxy.cfg). The
 * proxy can refuse an address that causes load without paying, at less cost than the service.
 */
export function reportAddressState(
  { trustedProxyHops }: AdmitDeps,
  response: ServerResponse,
  state: 'spent' | 'paid',
): void {
  if (trustedProxyHops > 0) response.setHeader('x-address-state', state)
}

/**
 * Counts the request of the client address. Undefined if the address has sent too many requests. The 429 is then
 * already sent.
 */
export function takePass(deps: AdmitDeps, context: Context): Pass | undefined {
  const pass = deps.limits.enter(limitAddressOf(deps, context.req))
  context.set(pass.headers())
  if (pass.refused === undefined) return pass
  send(context, refusalAnswer(pass.refused))
  return undefined
}

/** Takes a place for a request that has fully arrived. Undefined if the instance is overloaded. */
export function takePermit(deps: AdmitDeps, { req, res }: Context): Permit | undefined {
  const permit = deps.admission.enter(admissionRequestOf(deps, req))
  if (permit === undefined) return undefined
  deps.connections.hold(req.socket)
  res.once('close', () => deps.connections.release(req.socket))
  return permit
}
