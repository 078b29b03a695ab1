import type { Address } from '@tollbook/core/address'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Refusal, RefusalCode } from '@tollbook/core/refusal'
import type { PaymentState } from '../payment/payment.ts'
import type { PaymentReference } from '../payment/paymentReference.ts'

/** A paid answer on its way to the payer. */
export interface Dispatch {
  readonly wallet: Address
  readonly reference: PaymentReference
  /** Position of its RequestFulfilled in the ledger. */
  readonly position: number
  readonly isReplay: boolean
  /** Must be called once all of the answer has been handed to the operating system, and never before. */
  readonly markSent: () => void
}

/** A whole answer, as it goes over the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Present when the answer was paid for. */
  readonly dispatch?: Dispatch
}

/** An answer whose bytes are made while they are sent. */
export interface StreamedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Throws when the answer breaks. A reader that stops early still waits until the answer is finished without it. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Known after the last chunk. */
  readonly trailers: () => Readonly<Record<string, string>>
  /** Known after the last chunk; undefined when the answer broke. */
  readonly dispatch: () => Dispatch | undefined
  /** Time that the caller may take in all before it reads on. */
  readonly callerWaitMaxMs: number
}

/** A refusal, with the payment as the ledger has it once that is known. */
export type Refused = Refusal & { readonly payment?: PaymentState }

/** Each refusal has its status, and one that has none does not compile. */
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
  NO_DATA: 404,
  UPSTREAM_FAILED: 502,
  UPSTREAM_TIMEOUT: 504,
  TARGET_FORBIDDEN: 403,
}

/** Members of a refusal's body and headers of its answer, besides ours. */
export interface AnswerMore {
  readonly members?: { readonly [name: string]: Json }
  readonly headers?: Answer['headers']
}

/** The answer of a refusal: status by its code, and `Retry-After` where waiting helps. */
export function refusalAnswer(refusal: Refusal, { members, headers }: AnswerMore = {}): Answer {
  const { code, message, reason, details, retryAfterSeconds } = refusal
  const body = {
    error: message,
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined
      ? {}
      : { details: details.map(({ field, message: text }) => ({ field, message: text })) }),
    ...members,
  }
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return jsonAnswer(refusalStatuses[code], JSON.stringify(body), { ...retry, ...headers })
}

/** No error and no offer is ever cached: a cached 402 would sell a quote twice. */
export function jsonAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    body,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  }
}

/** Distinguishes an answer from a refusal or a parsed value; only answers have a status. */
export function isAnswer(value: object): value is Answer {
  return 'status' in value
}
