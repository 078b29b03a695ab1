import { refusalStatuses } from '../paywall/answer.ts'
import { assert, assertPresent } from '@tollbook/core/assert'

/** A no with its status, and what whoever gets it should do. */
export interface Verdict {
  readonly code: string
  readonly status: number
  readonly advice: string
}

// In the order in which they are given: of those that apply, a caller gets the first.
const advices: readonly (readonly [code: string, advice: string])[] = [
  ['INVALID_REQUEST', 'Mend the HTTP, the address of the wallet, or the parameters: `details` names each field.'],
  ['REQUEST_TIMEOUT', 'The request did not arrive in time; send it again.'],
  ['HEADERS_TOO_LARGE', 'Target and headers are too long.'],
  ['NOT_FOUND', 'Paths are exact and case-sensitive, without a slash at the end.'],
  ['METHOD_NOT_ALLOWED', 'See `Allow`.'],
  ['OVERLOADED', 'Come back after `Retry-After`.'],
  ['RATE_LIMITED', 'Come back after `Retry-After`.'],
  ['NO_WALLET', 'Send `x-wallet-address`.'],
  ['UNSUPPORTED_MEDIA_TYPE', 'The body must be `application/json` in UTF-8, not compressed.'],
  ['PAYLOAD_TOO_LARGE', 'The body is too long.'],
  ['ENDPOINT_UNAVAILABLE', 'Not sold at the moment. Nothing was charged; a proof you sent stays good.'],
  ['PAYMENT_REQUIRED', 'Pay what the quote says, then repeat the request with `x-payment-proof`.'],
  ['INVALID_PAYMENT', 'See `reason`. Only `not_found` may heal: repeat with the same proof, never pay again for it.'],
  ['INSUFFICIENT_BALANCE', 'The wallet holds too few tokens.'],
  ['IDEMPOTENCY_KEY_REUSED', 'The key belongs to another request or payment: send a new key with the same proof.'],
  ['PAYMENT_IN_PROGRESS', 'Another request with this proof is being served; repeat with the same proof.'],
  ['PAYMENT_PENDING', 'Not known yet. Repeat with the same proof after `Retry-After`; do not pay again.'],
  ['NO_DATA', 'There is no such thing. The proof is still good.'],
  ['TARGET_FORBIDDEN', 'The target leads into a private network. The proof is still good.'],
  ['UPSTREAM_FAILED', 'The source failed. The proof is still good.'],
  ['UPSTREAM_TIMEOUT', 'The source was too slow. The proof is still good.'],
  ['INTERNAL_ERROR', 'Our bug. The proof is still good; tell us the `requestId`.'],
]

/** All codes there are. Both closed lists have to be told, and nothing that is in neither. */
export function verdictsOf(transportStatuses: Readonly<Record<string, number>>): readonly Verdict[] {
  const statuses = new Map(Object.entries({ ...transportStatuses, ...refusalStatuses, PAYMENT_REQUIRED: 402 }))
  const verdicts = advices.map(([code, advice]) => {
    const status = assertPresent(statuses.get(code), `${code} is in one of the closed lists`)
    statuses.delete(code)
    return { code, status, advice }
  })
  assert(statuses.size === 0, `${[...statuses.keys()].join(', ')} has its advice`)
  return verdicts
}
