import { errorCode } from '@tollbook/core/fault'
import { type EgressRules, webRules } from '../outbound/egressRules.ts'
import { createPinnedGet, type PinnedGet } from '../outbound/pinnedGet.ts'
import { readBytes, TooLong } from '../outbound/readBytes.ts'
import type { UpstreamDeps } from '../outbound/upstream.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'

/** A conditional request for a feed (RFC 9110, 13). */
export interface FeedRequest {
  readonly url: string
  /** Validators from the last answer. The server then reports an unchanged feed without sending it again. */
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  readonly signal: AbortSignal
}

export type FeedReply =
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'feed'
      readonly text: string
      readonly etag: string | undefined
      readonly lastModified: string | undefined
    }

export type ReadFeed = (request: FeedRequest) => Promise<FeedReply>

type FeedDeps = Pick<UpstreamDeps, 'version' | 'contact' | 'onCall'>

const upstreamLabel = 'publisher-rss'
const timeoutMs = 8_000
const bytesMax = 1024 * 1024
// Maximum of redirects. A feed may redirect to https, to another host and to a CDN.
const hopsMax = 3

/**
 * Creates a function that reads the feed of a publisher. The function throws only `UpstreamFailure` and does not retry,
 * because the poller schedules the next attempt. The operator's address may be a private IP address. Host names and
 * redirect targets at other origins must lead to the public web.
 */
export function createReadFeed(deps: FeedDeps, rules: EgressRules = webRules([])): ReadFeed {
  const get = createPinnedGet(rules)
  return async (request) => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), request.signal])
    try {
      const reply = await replyOf(await follow({ ...deps, get }, { ...request, signal }))
      deps.onCall({ upstream: upstreamLabel, outcome: 'answered' })
      return reply
    } catch (error) {
      const failure = failureOf(error, signal)
      deps.onCall({ upstream: upstreamLabel, outcome: failure.kind })
      throw failure
    }
  }
}

interface FollowDeps extends Pick<FeedDeps, 'version' | 'contact'> {
  readonly get: PinnedGet
}

async function follow({ get, version, contact }: FollowDeps, request: FeedRequest): Promise<Response> {
  const headers = {
    accept: 'application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.5',
    'user-agent': `Tollbook/${version} (+${contact})`,
    ...(request.etag === undefined ? {} : { 'if-none-match': request.etag }),
    ...(request.lastModified === undefined ? {} : { 'if-modified-since': request.lastModified }),
  }
  const first = new URL(request.url)
  let url = first
  for (let hop = 0; hop <= hopsMax; hop++) {
    // Allow a private address only at the operator's chosen origin, because a redirect must not lead to hosts that only
    // this machine can reach.
    const reply = await get({ url, headers, signal: request.signal, isChosen: url.origin === first.origin })
    if (reply.kind === 'forbidden')
      throw new UpstreamFailure('blocked', `the feed is at an address that ${reply.problem}`)
    const { response } = reply
    const location = response.headers.get('location')
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response
    await response.body?.cancel()
    const next = URL.parse(location, url.href)
    if (next === null) throw new UpstreamFailure('bad_payload', 'the feed has moved to a target that is not an address')
    url = next
  }
  throw new UpstreamFailure('bad_payload', `the feed has moved more than ${hopsMax} times`)
}

async function replyOf(response: Response): Promise<FeedReply> {
  if (response.status === 304) return { kind: 'unchanged' }
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new UpstreamFailure(kindOf(response.status), `the feed answered HTTP ${response.status}`)
  }
  const bytes = await readBytes(response.body, bytesMax)
  return {
    kind: 'feed',
    text: decode(bytes, response.headers.get('content-type') ?? ''),
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
  }
}

function kindOf(status: number) {
  if (status === 429) return 'rate_limited'
  if (status === 404 || status === 410) return 'not_found'
  if (status >= 500) return 'upstream'
  return status === 401 || status === 403 || status === 451 ? 'blocked' : 'bad_payload'
}

/**
 * The Content-Type header has priority over the XML declaration. UTF-8 is used if the encoding is missing or
 * unsupported.
 */
function decode(bytes: Buffer, contentType: string): string {
  const declared = /^[^>]*\sencoding=["']([\w-]+)["']/.exec(bytes.toString('latin1', 0, 200))?.[1]
  const label = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? declared ?? 'utf-8'
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}

function failureOf(error: unknown, signal: AbortSignal): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  if (error instanceof TooLong) return new UpstreamFailure('bad_payload', error.message)
  if (signal.aborted) return new UpstreamFailure('timeout', `the feed did not answer within ${timeoutMs} ms`)
  // Omit the cause: the error of fetch quotes a rejected address, and the address may contain a key.
  return new UpstreamFailure('upstream', `the feed cannot be reached: ${errorCode(error) ?? 'no code'}`)
}
