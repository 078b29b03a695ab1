import type { IncomingHttpHeaders } from 'node:http'

/**
 * One provider as its callers see it: its paths, parameters, statuses and bodies. Ours in it are the figures, which
 * sampleUpstreams.ts gives out as samples. A pure function, so that a test can ask at any time of day.
 */
export type SampleProvider = (request: SampleRequest) => SampleReply

export interface SampleRequest {
  readonly method: string
  /** Decoded, with the leading slash. */
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

/** The items of a comma list, lower-case; empty when the parameter is absent. */
export function listOf(query: URLSearchParams, name: string): readonly string[] {
  return (query.get(name) ?? '')
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '')
}
