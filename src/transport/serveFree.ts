import type { Context } from 'koa'
import { z } from 'zod'
import type { Clock } from '@tollbook/core/clock'
import type { Answer } from '../paywall/answer.ts'
import { type AdmitDeps, limitAddressOf, takePass, takePermit } from './admitRequest.ts'
import { clientAddress } from './clientAddress.ts'
import type { FreeAction, FreeRequest, FreeRoute } from './freeRoute.ts'
import { parseJson } from './parseJson.ts'
import { readBody } from './readBody.ts'
import { headerOf, prefersHtml } from './requestHead.ts'
import type { Route } from './routes.ts'
import { send } from './send.ts'
import { invalidRequest, overloaded } from './transportError.ts'
import type { Uploads } from './uploads.ts'

export interface FreeDeps extends AdmitDeps {
  readonly clock: Clock
  readonly uploads: Uploads
  readonly freeRoutes: readonly FreeRoute[]
}

/** Returns the free routes. The answer to HEAD is the answer to GET without the body. */
export function freeRoutesOf(deps: FreeDeps): readonly Route[] {
  return deps.freeRoutes.map((route) => ({
    path: route.path,
    errorForm: route.errorForm,
    methods: [
      'GET',
      'HEAD',
      ...(route.post === undefined ? [] : ['POST']),
      ...(route.remove === undefined ? [] : ['DELETE']),
    ],
    serve: (context: Context, [segment = '']: readonly string[]) => serveFree(deps, route, { context, segment }),
  }))
}

/**
 * Serves a free route. Health checks need no permit up to a rate that no monitor reaches. Above that rate they count
 * like other requests.
 */
async function serveFree(
  deps: FreeDeps,
  route: FreeRoute,
  { context, segment }: { readonly context: Context; readonly segment: string },
): Promise<void> {
  if (route.isProbe === true && deps.admission.passesProbe(limitAddressOf(deps, context.req)))
    return send(context, await route.serve(freeRequest(deps, context, { segment, limits: unlimited })))
  const limits = takePass(deps, context)
  if (limits === undefined) return
  const request = freeRequest(deps, context, { segment, limits })
  const action = context.method === 'POST' ? await readAction(deps, context, request) : undefined
  if (action !== undefined && 'status' in action) return send(context, action)
  const permit = takePermit(deps, context)
  if (permit === undefined) return send(context, overloaded())
  try {
    const { serve, post, remove } = route
    const read = context.method === 'DELETE' && remove !== undefined ? remove : serve
    send(context, await (action === undefined || post === undefined ? read(request) : post(action)))
  } finally {
    permit.leave()
  }
}

const unlimited: FreeRequest['limits'] = { limitQuotes: () => undefined, limitLookups: () => undefined }
const actionBytesMax = 1_024
const actionBody = z.record(z.string(), z.unknown())

async function readAction(deps: FreeDeps, { req, res }: Context, request: FreeRequest): Promise<FreeAction | Answer> {
  const address = limitAddressOf(deps, req)
  const bytes = await readBody(deps, { request: req, response: res, address, bytesMax: actionBytesMax })
  if ('status' in bytes) return bytes
  const parsed = parseJson(bytes)
  if (!parsed.ok) return invalidRequest([{ field: 'body', message: parsed.message }])
  const body = actionBody.safeParse(parsed.value)
  return body.success
    ? { ...request, body: body.data }
    : invalidRequest([{ field: 'body', message: 'must be a JSON object' }])
}

function freeRequest(
  { trustedProxyHops }: FreeDeps,
  context: Context,
  facts: Pick<FreeRequest, 'segment' | 'limits'>,
): FreeRequest {
  return {
    ...facts,
    address: clientAddress(context.req, trustedProxyHops),
    host: context.get('host'),
    requestId: String(context.state['requestId']),
    query: context.querystring,
    header: (name) => headerOf(context.req, name),
    prefersHtml: prefersHtml(context),
  }
}
