import { z } from 'zod'
import { fromBase64Url, utf8Text } from '@tollbook/core/bytes'
import { errorBody } from '@tollbook/core/wire'
import type { LastAnswer } from './paymentError.ts'
import type { PendingPayment } from './pendingPayment.ts'
import { parseJson } from './readBody.ts'
import { protocolHeaders, type SponsoredProtocol } from './sponsored/sponsoredOffer.ts'

/** An answer whose body has arrived completely. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Consequence of an answer for the payment whose proof was presented. */
export type AnswerVerdict =
  | { readonly kind: 'delivered' }
  /** Present the same proof again. `unspent` if the service said that the proof stays valid. */
  | { readonly kind: 'again'; readonly unspent: boolean; readonly retryAfterMs: number | undefined }
  /** The proof stays valid, but the same request cannot succeed. */
  | { readonly kind: 'unspent' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The answer does not mention the payment, and a retry would not help. */
  | { readonly kind: 'unclear'; readonly why: string }

type StreamProof = Pick<PendingPayment, 'signature' | 'protocol' | 'debit'>

/** The proof that the request carried, as far as the verdict depends on it. */
export interface PresentedProof extends StreamProof {
  /** True if this payer has seen the payment confirmed on chain, which is the case in signature form. */
  readonly confirmed: boolean
}

/**
 * Decides whether the payment bought its answer, may be presented again, is unspent or refused, or is unclear. In doubt
 * it never says "unspent".
 */
export function judgeAnswer(answer: WholeAnswer, proof: PresentedProof): AnswerVerdict {
  const { status } = answer
  if (status >= 200 && status <= 299)
    return proof.protocol === undefined ? judgeDelivery(answer, proof) : judgeSettled(answer, proof.protocol)
  if (status >= 300 && status <= 399)
    return { kind: 'unclear', why: `it redirects to ${answer.headers.get('location')}` }
  const { code = 'none', reason } = readLastAnswer(answer)
  const again = { kind: 'again', unspent: false, retryAfterMs: readRetryAfterMs(answer.headers) } as const
  // A service checks the key before it settles. The amount still counts, because the service has the transaction.
  if (proof.protocol !== undefined && status === 422 && code === 'IDEMPOTENCY_KEY_REUSED')
    return { kind: 'refused', reason: code }
  // The service has the signed transaction and may still send it, whatever it answers.
  if (proof.protocol !== undefined)
    return mayHeal(status) ? again : { kind: 'unclear', why: `the service answered ${status} and may send the payment` }
  switch (code) {
    case 'INVALID_PAYMENT':
      return reason === 'not_found' ? again : { kind: 'refused', reason: reason ?? 'INVALID_PAYMENT' }
    case 'INSUFFICIENT_BALANCE':
      // A node that lags may show the balance after a payment but not the payment itself.
      return proof.confirmed ? again : { kind: 'refused', reason: 'INSUFFICIENT_BALANCE' }
    case 'IDEMPOTENCY_KEY_REUSED':
      // The service checks this before it takes a payment. A payment that landed earlier buys the same answer under
      // another key.
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

/** True for a status after which the same request may succeed. */
export function mayHeal(status: number): boolean {
  return status >= 500 || [408, 409, 425, 429].includes(status)
}

/**
 * True if the head of a streamed answer names the receipt of this payment, which ends its body. For other protocols,
 * true if the head says that the payment was settled.
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

/** A 200 without the receipt of this payment comes from a portal or a proxy on the way. */
function judgeDelivery({ bytes }: WholeAnswer, { signature, debit }: PresentedProof): AnswerVerdict {
  const { data } = sale.safeParse(parseJson(bytes))
  return data?.receipt.signature === (debit?.deposit ?? signature)
    ? { kind: 'delivered' }
    : { kind: 'unclear', why: 'the answer has no receipt of this payment' }
}

const settlement = z.union([z.object({ success: z.literal(true) }), z.object({ status: z.literal('success') })])

/** A 200 without the header of a settled payment comes from a portal or proxy, or from a service that took no payment. */
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

/** The last answer, for an error: its body, and its code and reason if it is an answer of Tollbook. */
export function readLastAnswer({ status, bytes }: WholeAnswer): LastAnswer {
  const json = parseJson(bytes)
  const { data } = errorBody.safeParse(json)
  return { status, code: data?.code, reason: data?.reason, body: json ?? utf8Text(bytes) }
}

/** Reads the form in seconds only, which Tollbook sends. */
function readRetryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
