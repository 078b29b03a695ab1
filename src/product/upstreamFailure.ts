import { Fault } from '@tollbook/core/fault'

/**
 * Reason why a provider gave no usable answer, in our terms for all
 * providers; the caller never sees a provider's 401, 402 or 429 as such.
 */
export type FailureKind =
  /** It does not know the item. */
  | 'not_found'
  /** It does not serve this kind of item or this region. */
  | 'not_covered'
  /** It, or our own limit, requires a pause. */
  | 'rate_limited'
  /** It rejected the key, or the plan or quota of the key. */
  | 'auth'
  /** It rejects our region or User-Agent. */
  | 'blocked'
  /** A field that we sell is missing, zero or stale. */
  | 'incomplete'
  /** The answer does not have the documented shape. */
  | 'bad_payload'
  /** It answered with 5xx, or no connection was made. */
  | 'upstream'
  /** It did not answer in time. */
  | 'timeout'
  /** Its breaker is open: no request was sent. */
  | 'resting'

/** A provider gave no usable answer. Another provider may, so it is always retryable. */
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
