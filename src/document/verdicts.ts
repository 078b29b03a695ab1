import { refusalStatuses } from '../paywall/answer.ts'
import { assert, assertPresent } from '@tollbook/core/assert'

export interface ErrorAdvice {
  readonly code: string
  readonly status: number
  readonly advice: string
}

// Advice for each error code, in the order of the checks.
const advices: readonly (readonly [code: string, advice: string])[] = [
  ['INVALID_REQUEST', 'Fix the HTTP request, the wallet address or the parameters: `details` names each field.'],
  ['REQUEST_TIMEOUT', 'The request did not arrive in time. Send it again.'],
  ['HEADERS_TOO_LARGE', 'Target and headers are too long.'],
  ['EXPECTATION_FAILED', '`Expect` may only be `100-continue`.'],
  ['NOT_FOUND', 'Paths are exact and case-sensitive, without a slash at the end.'],
  ['METHOD_NOT_ALLOWED', 'See `Allow`.'],
  ['OVERLOADED', 'Retry after `Retry-After`.'],
  ['RATE_LIMITED', 'Retry after `Retry-After`, with the same proof if you sent one. `RateLimit` shows what remains.'],
  ['NO_WALLET', 'Send `x-wallet-address`.'],
  ['UNSUPPORTED_MEDIA_TYPE', 'The body must be `application/json` in UTF-8, not compressed.'],
  ['PAYLOAD_TOO_LARGE', 'The body is too long.'],
  ['RANGE_NOT_SATISFIABLE', 'See `Content-Range` for the size of the file.'],
  ['ENDPOINT_UNAVAILABLE', 'Not sold at the moment. Nothing was charged; a proof that you sent stays valid.'],
  ['PAYMENT_REQUIRED', 'Pay what the quote says, then repeat the request with `x-payment-proof`.'],
  [
    'INVALID_PAYMENT',
    'See `reason`. Only `not_found` can change: repeat with the same proof, and never pay again because of it.',
  ],
  ['INSUFFICIENT_BALANCE', 'The wallet holds too few tokens.'],
  ['IDEMPOTENCY_KEY_REUSED', 'The key belongs to another request or payment. Send a new key with the same proof.'],
  ['TAB_NUMBER_USED', 'The number of the debit belongs to another request. Sign a new debit with another number.'],
  ['PAYMENT_IN_PROGRESS', 'Another request with this proof is in progress. Repeat with the same proof.'],
  [
    'PAYMENT_PENDING',
    'The outcome is not known yet. Repeat with the same proof after `Retry-After`; do not pay again.',
  ],
  ['NO_DATA', 'The requested data does not exist. The proof stays valid.'],
  ['TARGET_FORBIDDEN', 'The target is in a private network. The proof stays valid.'],
  ['UPSTREAM_FAILED', 'The provider failed. The proof stays valid.'],
  ['UPSTREAM_TIMEOUT', 'The provider was too slow. The proof stays valid.'],
  ['INTERNAL_ERROR', 'An error of the service. The proof stays valid; report the `requestId`.'],
]

/** Returns the advice for all codes. Asserts that advice exists for exactly the codes of both lists. */
export function verdictsOf(transportStatuses: Readonly<Record<string, number>>): readonly ErrorAdvice[] {
  const statuses = new Map(Object.entries({ ...transportStatuses, ...refusalStatuses, PAYMENT_REQUIRED: 402 }))
  const verdicts = advices.map(([code, advice]) => {
    const status = assertPresent(statuses.get(code), `${code} is in one of the closed lists`)
    statuses.delete(code)
    return { code, status, advice }
  })
  assert(statuses.size === 0, `${[...statuses.keys()].join(', ')} has its advice`)
  return verdicts
}
