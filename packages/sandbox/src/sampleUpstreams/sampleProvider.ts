import type { IncomingHttpHeaders } from 'node:http'

/**
 * One provider with its paths, parameters, statuses and bodies. Only the figures are ours, and sampleUpstreams.ts
 * labels them as samples. The function is pure, so that a test can choose the time of day.
 */
export type SampleProvider = (request: SampleRequest) => SampleReply

export interface SampleRequest {
  readonly method: string
  /** The decoded path, with the leading slash. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly nowMs: number
  /** Address of this server, for links to itself. */
  readonly origin: string
}

export interface SampleReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): SampleReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export function plain(body: string, status = 200, contentType = 'text/plain; charset=utf-8'): SampleReply {
  return { status, headers: { 'content-type': contentType }, body }
}

/** The items of a comma-separated list in lower case. Empty if the parameter is absent. */
export function listOf(query: URLSearchParams, name: string): readonly string[] {
  return (query.get(name) ?? '')
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '')
}
