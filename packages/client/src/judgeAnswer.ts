import { z } from 'zod'
import { fromBase64Url, utf8Text } from '@tollbook/core/bytes'
import { errorBody } from '@tollbook/core/wire'
import type { LastAnswer } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { parseJson } from './readBody.ts'
import { protocolHeaders, type SponsoredProtocol } from './sponsored/sponsoredOffer.ts'

export interface WholeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type AnswerVerdict =
  | { readonly kind: 'delivered' }
  /** The same proof may be presented again. `unspent` is true if the service said that the proof stays valid. */
  | { readonly kind: 'again'; readonly unspent: boolean; readonly retryAfterMs: number | undefined }
  /** The proof stays valid for another request. */
  | { readonly kind: 'unspent' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The answer does not decide on the payment, and a retry would not help. */
  | { readonly kind: 'unclear'; readonly why: string }

type StreamProof = Pick<PendingPayment, 'signature' | 'protocol' | 'debit'>

export interface PresentedProof extends StreamProof {
  /**
   * True if this payer sent the transaction itself and saw it confirmed (form `signature`). False if the service sends
   * it.
   */
  readonly confirmed: boolean
}

/**
 * Judges what an answer says about the payment. In doubt the verdict is not `unspent`, because the caller could then
 * present the payment for another request.
 */
export function judgeAnswer(answer: WholeAnswer, proof: PresentedProof): AnswerVerdict {
  const { status } = answer
  if (status >= 200 && status <= 299)
    return proof.protocol === undefined ? judgeDelivery(answer, proof) : judgeSettled(answer, proof.protocol)
  if (status >= 300 && status <= 399)
    return { kind: 'unclear', why: `it redirects to ${answer.headers.get('location')}` }
  const { code = 'none', reason } = readLastAnswer(answer)
  const again = { kind: 'again', unspent: false, retryAfterMs: readRetryAfterMs(answer.headers) } as const
  // The service checks the key before it settles the payment. Count the amount anyway, because the service has the
  // transaction.
  if (proof.protocol !== undefined && status === 422 && code === 'IDEMPOTENCY_KEY_REUSED')
    return { kind: 'refused', reason: code }
  // The payment is still open, because the service has the signed transaction and may send it later, regardless of its
  // answer.
  if (proof.protocol !== undefined)
    return mayHeal(status) ? again : { kind: 'unclear', why: `the service answered ${status} and may send the payment` }
  // The failure of the last permitted attempt, with the code of the failure.
  if (reason === 'attempts_exhausted') return { kind: 'refused', reason }
  switch (code) {
    case 'INVALID_PAYMENT':
      return reason === 'not_found' ? again : { kind: 'refused', reason: reason ?? 'INVALID_PAYMENT' }
    case 'INSUFFICIENT_BALANCE':
      // A lagging node may already show the balance after a payment, but not yet the payment.
      return proof.confirmed ? again : { kind: 'refused', reason: 'INSUFFICIENT_BALANCE' }
    case 'IDEMPOTENCY_KEY_REUSED':
      // The service checks the key before it takes a payment. So a payment that landed earlier is unspent, and can buy
      // the answer under another key.
      return proof.confirmed ? { kind: 'unspent' } : { kind: 'refused', reason: code }
    case 'UPSTREAM_FAILED':
    case 'UPSTREAM_TIMEOUT':
      return { ...again, unspent: true }
    case 'NO_DATA':
    case 'TARGET_FORBIDDEN':
      return { kind: 'unspent' }
    case 'PAYMENT_REQUIRED':
      return { kind: 'unclear', why: 'the service has not seen the proof' }
    default:
      return mayHeal(status) ? again : { kind: 'unclear', why: 'an answer that does not mention the payment' }
  }
}

/** True if the same request may succeed later, for example after a server error or a rate limit. */
export function mayHeal(status: number): boolean {
  return status >= 500 || [408, 409, 425, 429].includes(status)
}

/**
 * True if the headers of a streamed answer contain the path of this payment's receipt. For another payment protocol,
 * true for an event stream whose headers state that the payment was settled.
 */
export function isStreamFor({ signature, protocol, debit }: StreamProof, { status, headers }: Response): boolean {
  if (status !== 200) return false
  if (protocol !== undefined) return isEventStream(headers) && isSettled(headers, protocol)
  const location = headers.get('receipt-location') ?? ''
  return location.startsWith(`/api/receipts/${debit?.reference ?? `solana:${signature}`}?`)
}

export function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(headers.get('content-type') ?? '')
}

const sale = z.object({ success: z.literal(true), receipt: z.object({ signature: z.string() }) })

/** Requires the receipt of this payment, because a 200 without it may come from a captive portal or a proxy. */
function judgeDelivery({ bytes }: WholeAnswer, { signature, debit }: PresentedProof): AnswerVerdict {
  const { data } = sale.safeParse(parseJson(bytes))
  return data?.receipt.signature === (debit?.deposit ?? signature)
    ? { kind: 'delivered' }
    : { kind: 'unclear', why: 'the answer has no receipt of this payment' }
}

const settlement = z.union([z.object({ success: z.literal(true) }), z.object({ status: z.literal('success') })])

/**
 * Requires the header of a settled payment, because a 200 without it may come from a proxy or a service that took no
 * payment.
 */
function judgeSettled({ headers }: WholeAnswer, protocol: SponsoredProtocol): AnswerVerdict {
  return isSettled(headers, protocol)
    ? { kind: 'delivered' }
    : { kind: 'unclear', why: 'the answer does not say that the payment was settled' }
}

function isSettled(headers: Headers, protocol: SponsoredProtocol): boolean {
  const text = headers.get(protocolHeaders[protocol].settled) ?? ''
  const bytes = fromBase64Url(text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
  return bytes !== undefined && settlement.safeParse(parseJson(bytes)).success
}

export function readLastAnswer({ status, bytes }: WholeAnswer): LastAnswer {
  const json = parseJson(bytes)
  const { data } = errorBody.safeParse(json)
  return { status, code: data?.code, reason: data?.reason, body: json ?? utf8Text(bytes) }
}

/** Reads seconds, the only form that Tollbook sends. Undefined for a date, and without the header. */
function readRetryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
