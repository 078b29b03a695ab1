import type { InvalidPaymentReason, Refusal } from '@tollbook/core/refusal'
import { refusalStatuses } from '../../paywall/answer.ts'
import type { RailRequest, RefusalExplanation } from '../../paywall/rail.ts'

/* Problem details (RFC 9457) for callers who request them. The members are added to the usual response body. */

const mediaType = 'application/problem+json'

export function wantsProblem(request: RailRequest): boolean {
  return request.header('accept')?.toLowerCase().includes(mediaType) === true
}

interface Problem {
  readonly name: string | undefined
  readonly title: string
  readonly status: number
  readonly detail: string
}

type Described = Required<Pick<RefusalExplanation, 'headers' | 'members'>>

export function describeOffer(): Described {
  const detail = 'Payment is required; the WWW-Authenticate header says how to pay.'
  return describe({ name: 'payment-required', title: 'Payment Required', status: 402, detail })
}

/** MPP defines types only for a 402. For other statuses, the type is `about:blank`. */
export function describeRefusal(refusal: Refusal): Described {
  const { code, message, reason } = refusal
  const status = refusalStatuses[code]
  const [name, title] = status === 402 ? kindOf(code, reason) : [undefined, code]
  return describe({ name, title, status, detail: message })
}

function describe({ name, title, status, detail }: Problem): Described {
  const type = name === undefined ? 'about:blank' : `https://paymentauth.org/problems/${name}`
  return { headers: { 'content-type': mediaType }, members: { type, title, status, detail } }
}

type Kind = readonly [name: string, title: string]

const kindOfReason: Partial<Readonly<Record<InvalidPaymentReason, Kind>>> = {
  malformed_credential: ['malformed-credential', 'Malformed Credential'],
  challenge_invalid: ['invalid-challenge', 'Invalid Challenge'],
  challenge_expired: ['payment-expired', 'Payment Expired'],
  transfer_insufficient: ['payment-insufficient', 'Payment Insufficient'],
  already_used: ['invalid-challenge', 'Invalid Challenge'],
}

function kindOf(code: Refusal['code'], reason: Refusal['reason']): Kind {
  if (code === 'INSUFFICIENT_BALANCE') return ['payment-insufficient', 'Payment Insufficient']
  return kindOfReason[reason ?? 'not_found'] ?? ['verification-failed', 'Verification Failed']
}
