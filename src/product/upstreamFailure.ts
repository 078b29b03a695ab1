import { Fault } from '@tollbook/core/fault'

/** A caller never sees a provider's status 401, 402 or 429. */
export type FailureKind =
  | 'not_found'
  /** The provider does not serve this kind of item or this region. */
  | 'not_covered'
  /** The provider, or this service's own limit, requires a pause. */
  | 'rate_limited'
  /** The provider rejected the key, or the plan or quota of the key. */
  | 'auth'
  /** The provider rejects requests from our region or with our User-Agent. */
  | 'blocked'
  /** A sold field is missing, implausible or outdated. */
  | 'incomplete'
  | 'bad_payload'
  | 'upstream'
  | 'timeout'
  /** No request was sent: the provider's breaker is open, or a share of its limit is used up. */
  | 'resting'

/** Each upstream failure is retryable, because another provider may answer. */
export class UpstreamFailure extends Fault {
  override readonly name = 'UpstreamFailure'
  readonly kind: FailureKind
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

export function isMissingItem({ kind }: UpstreamFailure): boolean {
  return kind === 'not_found' || kind === 'not_covered'
}

/**
 * True if the failure counts against the provider. An incomplete answer or a missing item does not, because a few
 * requests for exotic items would otherwise stop all requests.
 */
export function countsForBreaker(failure: UpstreamFailure): boolean {
  return !isMissingItem(failure) && failure.kind !== 'incomplete'
}
