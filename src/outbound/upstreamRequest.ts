import type { Clock } from '@tollbook/core/clock'
import { errorCode } from '@tollbook/core/fault'
import { readBytes, TooLong } from './readBytes.ts'
import { retryAfterMsOf } from './retryAfter.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

export interface UpstreamRequest {
  /** Below the base address. Begins with a slash. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** JSON of a POST. Absent: the request is a GET. */
  readonly body?: string
  /** Aborted when the caller stops waiting. Absent: only the time limit ends the request. */
  readonly signal?: AbortSignal
}

/** Any status is a reply, because many providers report errors in the body and not by the status. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface UpstreamRequestOptions {
  /** Provider in messages, logs and metrics. */
  readonly name: string
  readonly base: URL
  /** For example a key, or a browser's User-Agent if the provider requires one. */
  readonly headers?: Readonly<Record<string, string>>
  /** True if the reader handles statuses 429 and 5xx itself. Then only redirects are failures by their status. */
  readonly readsFailures?: boolean
  /** Pause that the body of a 429 requests. Absent: use only the Retry-After header. */
  readonly pauseMs?: (reply: Reply) => number
  /** For the whole answer, including a second attempt. For a stream: until its first byte. */
  readonly timeoutMs?: number
  readonly bytesMax?: number
}

export interface UpstreamRequestDeps {
  readonly clock: Clock
  readonly version: string
  /** The User-Agent contains this contact, for the provider's staff. */
  readonly contact: string
  readonly options: UpstreamRequestOptions
}

export const timeoutMsDefault = 4_000
const bytesMaxDefault = 256 * 1024

/** Throws `UpstreamFailure` if no readable reply arrives. */
export async function fetchReply(
  deps: UpstreamRequestDeps,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    return await readReply(deps, await send(deps, request, signal))
  } catch (error) {
    throw unreachable(deps, error, signal)
  }
}

/** Resolves with the head of the response, which may have any status. */
export function send(
  { options, version, contact }: UpstreamRequestDeps,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { body } = request
  return fetch(urlOf(options, request), {
    ...(body === undefined ? {} : { method: 'POST', body }),
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      'user-agent': `Tollbook/${version} (+${contact})`,
      ...options.headers,
      ...request.headers,
    },
    redirect: 'manual',
    signal,
  })
}

/** Throws without reading the body if the status alone is a failure. */
export async function readReply(deps: UpstreamRequestDeps, response: Response): Promise<Reply> {
  const { bytesMax = bytesMaxDefault, readsFailures } = deps.options
  const failure = whyUnread(deps, response)
  if (failure !== undefined) {
    // An unread body would otherwise occupy the connection.
    await response.body?.cancel()
    throw failure
  }
  const text = new TextDecoder().decode(await readBytes(response.body, bytesMax))
  const reply = { status: response.status, headers: response.headers, text }
  if (reply.status === 429 && readsFailures !== true) throw rateLimited(deps, reply)
  return reply
}

export function unreachable({ options }: UpstreamRequestDeps, error: unknown, late: AbortSignal): UpstreamFailure {
  const { name, timeoutMs = timeoutMsDefault } = options
  if (error instanceof UpstreamFailure) return error
  if (error instanceof TooLong) return new UpstreamFailure('bad_payload', `${name}: ${error.message}`)
  if (late.aborted) return new UpstreamFailure('timeout', `${name} did not answer within ${timeoutMs} ms`)
  // Omit the cause: the errors of fetch quote a rejected header or address, which can contain the key.
  return new UpstreamFailure('upstream', `${name} cannot be reached: ${errorCode(error) ?? 'no code'}`)
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Undefined if the status alone does not decide, so the body must be read. */
function whyUnread(
  { options, clock }: UpstreamRequestDeps,
  { status, headers }: Response,
): UpstreamFailure | undefined {
  const { name, readsFailures = false } = options
  if (status >= 500 && !readsFailures) {
    const retryAfterMs = retryAfterMsOf(headers.get('retry-after'), clock)
    return new UpstreamFailure('upstream', `${name} answered HTTP ${status}`, { retryAfterMs })
  }
  // Refuse redirects, because a provider has no reason to redirect a request, and the target could be in our own
  // network.
  if (redirects.has(status)) return new UpstreamFailure('bad_payload', `${name} redirects us: HTTP ${status}`)
  return undefined
}

function rateLimited({ options: { name, pauseMs }, clock }: UpstreamRequestDeps, reply: Reply): UpstreamFailure {
  const retryAfterMs = Math.max(retryAfterMsOf(reply.headers.get('retry-after'), clock) ?? 0, pauseMs?.(reply) ?? 0)
  return new UpstreamFailure('rate_limited', `${name} asks us to wait`, { retryAfterMs })
}

function urlOf({ base }: UpstreamRequestOptions, { path, query = {} }: UpstreamRequest): URL {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + path
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
  return url
}
