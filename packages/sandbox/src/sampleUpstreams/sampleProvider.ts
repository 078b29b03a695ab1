/**
 * A sample has the paths, members and statuses that the provider's adapter reads. The figures are invented, and answers
 * with them are labelled as samples. The function is pure, so that a test can choose the time.
 */
export type SampleProvider = (request: SampleRequest) => SampleReply

export interface SampleRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly body: string
  readonly nowMs: number
}

export interface SampleReply {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export function json(body: unknown, status = 200): SampleReply {
  return plain(JSON.stringify(body), status, 'application/json')
}

export function plain(body: string, status = 200, contentType = 'text/plain; charset=utf-8'): SampleReply {
  return { status, contentType, body }
}

/** Items are in lower case. Empty if the parameter is absent. */
export function listOf(query: URLSearchParams, name: string): readonly string[] {
  return query.get(name)?.toLowerCase().split(',') ?? []
}
