import { Fault } from '@tollbook/core/fault'

/**
 * Reason why a provider gave no usable answer, in our terms for all providers; the caller never sees a provider's 401,
 * 402
 * or 429 as such.
 *
 * `not_found`: it does not know the item · `not_covered`: it does not serve this kind or region ·
 * `rate_limited`: it, or our own limit, requires a pause · `auth`: key, plan or quota · `blocked`: region or User-Agent
 * ·
 * `incomplete`: a field that we sell is missing, zero or stale · `bad_payload`: not the documented shape ·
 * `upstream`: its 5xx, or no connection · `timeout` · `resting`: its breaker is open, no request was sent.
 */
export type FailureKind =
  | 'not_found'
  | 'not_covered'
  | 'rate_limited'
  | 'auth'
  | 'blocked'
  | 'incomplete'
  | 'bad_payload'
  | 'upstream'
  | 'timeout'
  | 'resting'

export class UpstreamFailure extends Fault {
  override readonly name = 'UpstreamFailure'
  readonly kind: FailureKind
  /** Pause that the provider requested. */
  readonly retryAfterMs: number | undefined

  constructor(
    kind: FailureKind,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause: options.cause, retryable: true })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Not a failure of the provider: it works, and does not have the item. */
export function isMissingItem({ kind }: UpstreamFailure): boolean {
  return kind === 'not_found' || kind === 'not_covered'
}

/**
 * Failures that count for its breaker. One answer with a gap does not: otherwise a few requests for exotic items would
 * close it for all callers.
 */
export function countsForBreaker(failure: UpstreamFailure): boolean {
  return !isMissingItem(failure) && failure.kind !== 'incomplete'
}
