import { assertPresent } from '@tollbook/core/assert'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import type { Json } from '@tollbook/core/canonicalJson'
import { parseJson } from '@tollbook/core/json'
import { InvalidOption } from './errorCode.ts'
import type { PendingPayment, PendingRequest } from './pendingPayment.ts'
import { requireSecureUrl } from './secureUrl.ts'
import { protocolHeaders } from './sponsored/sponsoredOffer.ts'
import { addToMeta, record } from './tool/callBody.ts'

export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, Json>>
}

/** A request that can be sent again, because its body was read into bytes before the payment. */
export interface PayableRequest {
  readonly content: PendingRequest
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal
  readonly tool?: ToolCall
}

/**
 * Reads the body once, so that the paid request can repeat it. Throws `InvalidOption`, which is a `TypeError`, if the
 * URL is neither https nor loopback, or if the request already has a proof.
 */
export async function readRequest(input: string | URL, init: RequestInit | undefined): Promise<PayableRequest> {
  const url = requireSecureUrl(input)
  const request = new Request(url, init)
  const headers = new Headers(request.headers)
  if (headers.has(proofHeader))
    throw new InvalidOption(
      `${proofHeader} is set by the paying fetch; present an earlier proof with payingFetch.resume`,
    )
  if (isUnnamedJson(init)) headers.set('content-type', 'application/json')
  const idempotencyKey = headers.get(keyHeader) ?? undefined
  for (const name of [walletHeader, keyHeader]) headers.delete(name)
  const body = new Uint8Array(await request.arrayBuffer())
  const content = {
    method: request.method,
    url: url.href,
    headers: [...headers.entries()],
    ...(body.length === 0 ? {} : { bodyBase64: encodeBase64(body) }),
  }
  return { content, idempotencyKey, signal: request.signal }
}

const walletHeader = 'x-wallet-address'
const proofHeader = 'x-payment-proof'
const keyHeader = 'idempotency-key'

/**
 * True for a body without a content type, if it is text, bytes or absent. Such a request is sent as JSON, like every
 * Tollbook request. `fetch` would send text as text/plain.
 */
function isUnnamedJson(init: RequestInit | undefined): boolean {
  const hasType = new Headers(init?.headers).has('content-type')
  const body = init?.body ?? undefined
  return !hasType && (body === undefined || typeof body === 'string' || ArrayBuffer.isView(body))
}

export function quoteRequestInit(content: PendingRequest, wallet: string, idempotencyKey: string): RequestInit {
  const headers = [...content.headers, [walletHeader, wallet], [keyHeader, idempotencyKey]] satisfies [string, string][]
  const body = content.bodyBase64 === undefined ? {} : { body: bodyOf(content.bodyBase64) }
  // Do not follow redirects: the proof would reach a server that the caller did not agree to pay.
  return { method: content.method, headers, redirect: 'manual', ...body }
}

function bodyOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(assertPresent(readBase64(base64), 'a stored body is base64'))
}

/** Every retry sends the same bytes, so that the service recognises one request. */
export function paidRequestInit({ request, wallet, idempotencyKey, ...payment }: PendingPayment): RequestInit {
  const { proof, protocol, inMeta } = payment
  if (inMeta === true) {
    const bodyBase64 = addToMeta(request.bodyBase64 ?? '', record.parse(parseJson(proof)))
    const call = assertPresent(bodyBase64, 'a payment in _meta belongs to a call of a tool')
    return quoteRequestInit({ ...request, bodyBase64: call }, wallet, idempotencyKey)
  }
  const init = quoteRequestInit(request, wallet, idempotencyKey)
  const headers = new Headers(init.headers)
  headers.set(protocol === undefined ? proofHeader : protocolHeaders[protocol].payment, proof)
  return { ...init, headers }
}
