import { Fault } from '@tollbook/core/fault'

/**
 * Reason why a provider sent no usable answer, in terms that apply to all providers. A caller never sees a provider's
 * status 401, 402 or 429.
 */
export type FailureKind =
  /** The provider does not have the item. */
  | 'not_found'
  /** The provider does not serve this kind of item or this region. */
  | 'not_covered'
  /** The provider, or this service's own limit, requires a pause. */
  | 'rate_limited'
  /** The provider rejected the key, or the plan or quota of the key. */
  | 'auth'
  /** The provider rejects requests from our region or with our User-Agent. */
  | 'blocked'
  /** A sold field is missing, zero or outdated. */
  | 'incomplete'
  /** The answer does not have the form that the provider documents. */
  | 'bad_payload'
  /** The provider answered with a 5xx status, or no connection could be opened. */
  | 'upstream'
  /** The provider did not answer in time. */
  | 'timeout'
  /** The circuit breaker of the provider is open, so no request was sent. */
  | 'resting'

/** Thrown if a provider sent no usable answer. Always retryable, because another provider may answer. */
export class UpstreamFailure extends Fault {
  override readonly name = 'UpstreamFailure'
  readonly kind: FailureKind
  /** Pause that the provider requested, in milliseconds. Undefined: no request for a pause. */
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

/** True if the provider works but does not have the item. */
export function isMissingItem({ kind }: UpstreamFailure): boolean {
  return kind === 'not_found' || kind === 'not_covered'
}

/**
 * True if the failure counts for the provider's circuit breaker. An incomplete answer does not count. Otherwise, a few
 * requests for exotic items would stop all requests to the provider.
 */
export function countsForBreaker(failure: UpstreamFailure): boolean {
  return !isMissingItem(failure) && failure.kind !== 'incomplete'
}
