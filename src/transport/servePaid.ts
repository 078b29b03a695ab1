import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { Bug } from '@tollbook/core/assert'
import { fillTemplate } from '@tollbook/core/pathTemplate'
import { sha256 } from '@tollbook/core/digest'
import type { Endpoint } from '../product/endpoint.ts'
import type { CheckedOrder } from '../product/product.ts'
import { hasNoBody } from '../product/productFacts.ts'
import { readSegments } from '../product/productPath.ts'
import type { PaidRequest } from '../paywall/paidRequest.ts'
import type { Sales } from '../paywall/sales.ts'
import { admissionRequestOf, limitAddressOf, takePass } from './admitRequest.ts'
import type { Pass } from './callerLimits.ts'
import type { FreeAnswer } from './freeRoute.ts'
import { openVisit, type VisitDeps } from './paidVisit.ts'
import { readBody } from './readBody.ts'
import { readParameters } from './readParameters.ts'
import { headerOf, pathOf, prefersHtml } from './requestHead.ts'
import type { Route } from './routes.ts'
import { onceSent, send, sendStream } from './send.ts'
import { invalidRequest, overloaded, pathNotFound } from './transportError.ts'
import type { Uploads } from './uploads.ts'

export interface PaidDeps extends VisitDeps {
  readonly uploads: Uploads
  readonly endpoints: readonly Endpoint[]
  readonly sales: Pick<Sales, 'rails' | 'sell'>
  readonly paymentPage?: (path: string) => Promise<FreeAnswer>
}

export interface PaidPath {
  readonly path: string
  readonly endpoint: Endpoint
  readonly mount: string | undefined
}

/** Returns the paths of all products. Each product has another path below the mount of each rail that has a mount. */
export function paidPaths({ endpoints, sales }: Pick<PaidDeps, 'endpoints' | 'sales'>): readonly PaidPath[] {
  const mounts = [undefined, ...sales.rails.flatMap(({ description }) => description?.mount ?? [])]
  return endpoints.flatMap((endpoint) =>
    mounts.map((mount) => ({ path: `${mount ?? ''}${endpoint.path}`, endpoint, mount })),
  )
}

/** Returns the routes of the products. HEAD is not served, because it would sell an answer without a body. */
export function paidRoutes(deps: PaidDeps, paths: readonly PaidPath[]): readonly Route[] {
  return paths.map(({ path, endpoint, mount }) => ({
    path,
    methods: [endpoint.method],
    errorForm: endpoint.errorForm,
    serve: async (context: Context, segments: readonly string[]) => {
      const pass = takePass(deps, context)
      if (pass === undefined) return
      const page = mount === undefined ? pageFor(deps, endpoint, context) : undefined
      if (page !== undefined) return send(context, await page)
      await servePaid(deps, endpoint, { context, mount, segments, pass })
    },
  }))
}

/**
 * Returns the payment page for a person who opens the address in a browser. A request with a header of any rail comes
 * from a program.
 */
function pageFor({ paymentPage, sales }: PaidDeps, { path, method }: Endpoint, context: Context) {
  if (paymentPage === undefined || method !== 'GET' || !prefersHtml(context)) return undefined
  const names = sales.rails.flatMap(({ requestHeaders }) => requestHeaders)
  return names.some((name) => headerOf(context.req, name) !== undefined) ? undefined : paymentPage(path)
}

interface Arrival {
  readonly context: Context
  readonly mount: string | undefined
  /** As sent. */
  readonly segments: readonly string[]
  readonly pass: Pass
}

async function servePaid(
  deps: PaidDeps,
  endpoint: Endpoint,
  { context, mount, segments, pass }: Arrival,
): Promise<void> {
  const visit = openVisit(deps, { context, pass })
  let arrived: Buffer | undefined
  const request: PaidRequest = {
    mount,
    header: (name) => headerOf(context.req, name),
    path: pathOf(context.req).slice(mount?.length ?? 0),
    method: context.method,
    target: context.req.url ?? '',
    bodyDigest: () => (arrived === undefined ? undefined : sha256(arrived)),
    ...visit.facts,
    async readParameters() {
      // Take the permit only after the body has arrived, so that a slow upload holds none.
      const isProbe =
        mount !== undefined &&
        segments.length === 0 &&
        hasNoInput(context.req) &&
        admissionRequestOf(deps, context.req).purpose !== 'proof'
      const body = isProbe ? undefined : await readBodyOf(deps, endpoint, context)
      if (body !== undefined && 'status' in body) return body
      arrived = body
      if (!visit.enter()) return overloaded()
      return isProbe ? openProbe(endpoint) : readOrder(deps, endpoint, { context, segments, body })
    },
  }
  try {
    const answer = await deps.sales.sell(endpoint, request)
    context.set(pass.headers())
    const dispatchOf = () => ('chunks' in answer ? answer.dispatch() : answer.dispatch)
    onceSent(context, () => dispatchOf()?.markSent())
    if ('chunks' in answer) await sendStream(deps, context, answer)
    else send(context, answer)
    visit.served(endpoint.path, dispatchOf())
  } finally {
    visit.leave()
  }
}

function readOrder(
  deps: PaidDeps,
  endpoint: Endpoint,
  { context, segments, body }: Pick<Arrival, 'context' | 'segments'> & { readonly body: Buffer | undefined },
) {
  const path = readSegments(endpoint.path, segments)
  if (!path.ok) return invalidRequest([path.problem])
  // Check the path again, because the decoded values may lead to another product, which may have another price.
  if (deps.findSold(fillTemplate(endpoint.path, path.values)) !== endpoint) return pathNotFound()
  // A body of DELETE has no defined meaning, so a program that sends one expects another order than the order in the
  // path.
  if (endpoint.method === 'DELETE' && hasBody(context.req)) return invalidRequest([strayBody])
  const header = (name: string) => headerOf(context.req, name)
  return readParameters(endpoint, { queryText: context.querystring, path: path.values, body, header })
}

const strayBody = { field: 'body', message: 'must be absent: the parameters of DELETE are in path and query' }

function readBodyOf(deps: PaidDeps, { method, bodyBytesMax, rawBody }: Endpoint, { req, res }: Context) {
  if (hasNoBody(method)) return Promise.resolve(undefined)
  const address = limitAddressOf(deps, req)
  const contentTypes = rawBody?.contentTypes
  return readBody(deps, { request: req, response: res, address, contentTypes, bytesMax: bodyBytesMax })
}

function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** True for a request without a query and a body, by which indexers request a price. */
function hasNoInput(request: Pick<IncomingMessage, 'url' | 'headers'>): boolean {
  return request.url?.includes('?') !== true && !hasBody(request)
}

/**
 * Returns an order that has a price but cannot be bought. A request with any input is checked as usual, so that a
 * typing error costs no money.
 */
function openProbe({ path, whyUnavailable }: Endpoint): CheckedOrder {
  return {
    parameters: null,
    endpoint: path,
    whyUnavailable,
    whyUndeliverable: whyUnavailable,
    whyNoData: () => undefined,
    deliver: () => Promise.reject(new Bug('a request without a proof is not delivered')),
  }
}
