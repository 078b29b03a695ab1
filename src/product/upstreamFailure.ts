import { Fault } from '@tollbook/core/fault'

/**
 * Reason why a provider gave no usable answer, in terms common to all providers. The caller never sees a provider's
 * 401, 402 or 429.
 */
export type FailureKind =
  /** The provider does not have the item. */
  | 'not_found'
  /** The provider does not serve this kind of item or this region. */
  | 'not_covered'
  /** The provider, or our own limit, requires a pause. */
  | 'rate_limited'
  /** The provider rejected the key, or its plan or quota. */
  | 'auth'
  /** The provider rejects our region or User-Agent. */
  | 'blocked'
  /** A field that we sell is missing, zero or stale. */
  | 'incomplete'
  /** The answer does not have the documented shape. */
  | 'bad_payload'
  /** The provider answered with 5xx, or no connection was made. */
  | 'upstream'
  /** The provider did not answer in time. */
  | 'timeout'
  /** The breaker of the provider is open: no request was sent. */
  | 'resting'

/** A provider gave no usable answer. The failure is always retryable, because another provider may answer. */
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

/** True if the provider works and does not have the item. */
export function isMissingItem({ kind }: UpstreamFailure): boolean {
  return kind === 'not_found' || kind === 'not_covered'
}

/**
 * True if a failure counts for the provider's breaker. An incomplete answer does not count: a few requests for exotic
 * items would otherwise stop all requests to that provider.
 */
export function countsForBreaker(failure: UpstreamFailure): boolean {
  return !isMissingItem(failure) && failure.kind !== 'incomplete'
}
