import type { FieldProblem } from '@tollbook/core/refusal'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'

/** Closed list of refusals that do not depend on the product, with their statuses. */
export const transportErrors = {
  INVALID_REQUEST: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  EXPECTATION_FAILED: 417,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  OVERLOADED: 503,
} as const

export type TransportError = keyof typeof transportErrors

export interface ErrorMore {
  readonly details?: readonly FieldProblem[]
  readonly requestId?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Creates the answer for an error that no product is involved in. The code determines the status. */
export function errorAnswer(code: TransportError, error: string, more: ErrorMore = {}): Answer {
  const { details, requestId, headers } = more
  return jsonAnswer(transportErrors[code], JSON.stringify({ error, code, details, requestId }), headers)
}

/** Creates the answer for a path that does not exist, and for a path that is hidden from this caller. */
export function pathNotFound(): Answer {
  return errorAnswer('NOT_FOUND', 'this path does not exist; paths are exact and case-sensitive')
}

/** Creates an answer with all given problems, so that a caller who makes five mistakes finds them with one request. */
export function invalidRequest(details: readonly FieldProblem[]): Answer {
  const error = details.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return errorAnswer('INVALID_REQUEST', error, { details })
}

/** Creates the answer of an overloaded instance. It is sent before the request causes work other than reading its body. */
export function overloaded(seconds = 1): Answer {
  const wait = seconds === 1 ? 'a second' : `${seconds} seconds`
  return errorAnswer('OVERLOADED', `too many requests are in progress; send the request again in ${wait}`, {
    headers: { 'retry-after': String(seconds) },
  })
}
