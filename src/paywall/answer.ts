import type { Address } from '@tollbook/core/address'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Refusal, RefusalCode } from '@tollbook/core/refusal'
import type { PaymentState } from '../payment/payment.ts'
import type { PaymentReference } from '../payment/paymentReference.ts'
import type { Challenge } from './rail.ts'

export interface Dispatch {
  readonly wallet: Address
  readonly reference: PaymentReference
  readonly position: number
  readonly isReplay: boolean
  /**
   * The stored answer may be deleted after this call, so call it only once the operating system has accepted the whole
   * answer.
   */
  readonly markSent: () => void
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly dispatch?: Dispatch
  /** Present in an offer, and in a refusal whose rail has words for MCP clients. */
  readonly offer?: readonly Pick<Challenge, 'toolWords'>[]
}

export interface RawAnswer extends Omit<Answer, 'body'> {
  readonly body: Buffer
}

export interface StreamedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Throws if the answer breaks, for example because the provider failed. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Empty before the last chunk, because the receipt follows the delivery. */
  readonly trailers: () => Readonly<Record<string, string>>
  /** Undefined before the last chunk, and if the answer broke. */
  readonly dispatch: () => Dispatch | undefined
  /** Bounds the total wait for a slow caller, because the answer must end before its lease. */
  readonly callerWaitMaxMs: number
}

export type Refused = Refusal & { readonly payment?: PaymentState }

export const refusalStatuses: Readonly<Record<RefusalCode, number>> = {
  RATE_LIMITED: 429,
  NO_WALLET: 401,
  INVALID_REQUEST: 400,
  ENDPOINT_UNAVAILABLE: 503,
  INVALID_PAYMENT: 402,
  INSUFFICIENT_BALANCE: 402,
  PAYMENT_IN_PROGRESS: 409,
  PAYMENT_PENDING: 503,
  IDEMPOTENCY_KEY_REUSED: 422,
  TAB_NUMBER_USED: 409,
  NO_DATA: 404,
  UPSTREAM_FAILED: 502,
  UPSTREAM_TIMEOUT: 504,
  TARGET_FORBIDDEN: 403,
}

export interface AnswerMore {
  readonly members?: { readonly [name: string]: Json } | undefined
  readonly headers?: Answer['headers']
  readonly toolWords?: Challenge['toolWords'] | undefined
}

export function refusalAnswer(refusal: Refusal, { members, headers, toolWords }: AnswerMore = {}): Answer {
  const { code, message, reason, details, retryAfterSeconds } = refusal
  const body = JSON.stringify({ error: message, code, reason, details, ...members })
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  const answer = jsonAnswer(refusalStatuses[code], body, { ...retry, ...headers })
  return toolWords === undefined ? answer : { ...answer, offer: [{ toolWords }] }
}

/** No cache may store the response, because a cached 402 would offer one quote to several callers. */
export function jsonAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    body,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  }
}

export function isAnswer(value: object): value is Answer {
  return 'status' in value
}
