import type { IncomingMessage } from 'node:http'
import type { Clock } from '@tollbook/core/clock'
import { retryAfterMsOf } from '../outbound/retryAfter.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import type { RouteEntry } from './productsFile.ts'

export function judgeHead(route: RouteEntry, response: IncomingMessage, clock: Clock): void {
  judgeStatus(route, response, clock)
  const { headers } = response
  const coding = headers['content-encoding'] ?? 'identity'
  // The request asks for an unencoded answer, so an encoded answer is a mistake of the upstream.
  if (coding !== 'identity') throw new UpstreamFailure('bad_payload', 'the answer is compressed')
  const type = mediaTypeOf(response)
  if (!isEventStream(route, response) && !route.content_types.some((pattern) => matches(type, pattern)))
    throw new UpstreamFailure('bad_payload', `the answer has the media type ${type.slice(0, 100)}`)
}

function mediaTypeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? 'none').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

export function isEventStream({ stream }: RouteEntry, response: IncomingMessage): boolean {
  return stream === 'passthrough' && mediaTypeOf(response) === 'text/event-stream'
}

export const isJson = (response: IncomingMessage) => /^application\/([\w.+-]+\+)?json$/.test(mediaTypeOf(response))

function matches(type: string, pattern: string): boolean {
  if (pattern === '*/*') return true
  return pattern.endsWith('/*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern.toLowerCase()
}

function judgeStatus({ success, no_data }: RouteEntry, response: IncomingMessage, clock: Clock): void {
  const { statusCode: status = 0 } = response
  if (success.status.includes(status)) return
  const said = `the upstream answered HTTP ${status}`
  if (no_data.status.includes(status)) throw new UpstreamFailure('not_found', said)
  // A remaining status of 4xx concerns this order and not the whole upstream.
  throw failureOfStatus(response, clock) ?? new UpstreamFailure(status >= 400 ? 'incomplete' : 'bad_payload', said)
}

/** Returns the failure for a status that concerns the whole upstream. Undefined for any other status. */
export function failureOfStatus({ statusCode: status = 0, headers }: IncomingMessage, clock: Clock) {
  const said = `the upstream answered HTTP ${status}`
  // Treat a 503 with Retry-After like a 429, because both ask for a pause.
  const retryAfterMs = retryAfterMsOf(headers['retry-after'], clock)
  if (status === 429 || (status === 503 && retryAfterMs !== undefined))
    return new UpstreamFailure('rate_limited', said, { retryAfterMs })
  // These statuses concern the operator's key or quota, and so every order.
  if (status === 401 || status === 402 || status === 403) return new UpstreamFailure('auth', said)
  return status >= 500 ? new UpstreamFailure('upstream', said) : undefined
}

/** True if the body is provably complete. A cut body without a length or chunks also looks complete. */
export function hasEnd({ headers, complete }: IncomingMessage): boolean {
  return complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
}

export function judgeJson({ success }: RouteEntry, data: unknown): void {
  const { json } = success
  if (json === undefined) return
  const found = json.pointer.reduce(memberOf, data)
  const holds = json.exists === undefined ? isSame(found, json.equals) : (found !== undefined) === json.exists
  if (!holds) throw new UpstreamFailure('incomplete', 'the answer does not show success')
}

/**
 * Reads a member of an object. Reads own members only, because a pointer such as `/constructor` must not find an
 * inherited member.
 */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}

// Compares JSON texts, so the order of members counts.
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

export function judgeEnd({ success }: RouteEntry, tail: string): void {
  if (success.ends_with !== undefined && !tail.trimEnd().endsWith(success.ends_with))
    throw new UpstreamFailure('incomplete', 'the answer has not the end that shows that it is complete')
}
