import { Fault } from '@tollbook/core/fault'

/**
 * Why a provider gave no answer that can be used. Ours, whatever words, status and spelling the provider has for it; the
 * caller never sees a provider's 401, 402 or 429 as such.
 *
 * `not_found`: it does not know what was asked for · `not_covered`: it does not serve this kind or region ·
 * `rate_limited`: it, or our own pace, asks us to wait · `auth`: key, plan or quota · `blocked`: region or User-Agent ·
 * `incomplete`: a field that we sell is missing, zero or stale · `bad_payload`: not the shape it promised ·
 * `upstream`: its 5xx, or no connection · `timeout` · `resting`: its breaker is open, nobody was asked.
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
  /** What the provider asked us to wait. */
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

/** Says nothing against the provider: it works, and has no such thing. */
export function isVerdict({ kind }: UpstreamFailure): boolean {
  return kind === 'not_found' || kind === 'not_covered'
}

/** What counts for its breaker. One answer with a gap does not: else a few asks for exotic things would close it to all. */
export function speaksAgainst(failure: UpstreamFailure): boolean {
  return !isVerdict(failure) && failure.kind !== 'incomplete'
}

/** It may be over in a moment, so that whoever says so has not said yet whether it knows the thing. */
export function isPassing({ kind }: UpstreamFailure): boolean {
  return kind === 'rate_limited' || kind === 'upstream' || kind === 'timeout' || kind === 'resting'
}
