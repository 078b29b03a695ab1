import { z } from 'zod'
import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import { usdPattern } from './attoUsd.ts'

/* Messages between the wallet process and its front ends: HTTP on the wallet's socket. */

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const bodyCharactersMax = 2 * 1024 * 1024

const usdText = z.string().regex(usdPattern, "must be US dollars as a text, such as '0.25'")

/** A different mint or recipient, or a higher amount or price, needs new consent. */
export const agreement = z.strictObject({
  mint: z.string(),
  payTo: z.string(),
  baseUnits: z.string().regex(/^\d{1,20}$/),
  usd: usdText,
})
export type Agreement = z.infer<typeof agreement>

/** If `intent` is `pay`, the wallet also pays for the request. */
export const fetchOrder = z.strictObject({
  intent: z.enum(['pay', 'quote']),
  method: z.enum(methods),
  url: z.string().max(8_192),
  headers: z.array(z.tuple([z.string().max(64), z.string().max(2_048)])).max(16),
  bodyBase64: z.string().max(bodyCharactersMax).optional(),
  /** Applies in addition to the limits of the policy. */
  maxUsd: usdText.optional(),
  agreed: agreement.optional(),
})
export type FetchOrder = z.infer<typeof fetchOrder>

export interface JsonRequest {
  readonly url: string
  readonly method: FetchOrder['method']
  readonly body?: string | undefined
  readonly maxUsd?: string | undefined
}

export function orderOf(intent: FetchOrder['intent'], { url, method, body, maxUsd }: JsonRequest): FetchOrder {
  return {
    intent,
    url,
    method,
    headers: [['content-type', 'application/json']],
    ...(body === undefined ? {} : { bodyBase64: encodeBase64(utf8Bytes(body)) }),
    ...(maxUsd === undefined ? {} : { maxUsd }),
  }
}

export const received = z.strictObject({ signature: z.string().max(128) })

/**
 * Header of every answer of the wallet. It is needed, because the body alone does not show whether it is an answer of
 * the service, a quote, or a refusal.
 */
export const kindHeader = 'tollbook-wallet'
export const kinds = ['answer', 'quote', 'refusal'] as const
export type AnswerKind = (typeof kinds)[number]

/** Header with the payment of an answer, as JSON. */
export const paymentHeader = 'tollbook-payment'
export const paymentNote = z.object({
  signature: z.string(),
  mint: z.string(),
  baseUnits: z.string(),
  usd: z.string(),
})
export type PaymentNote = z.infer<typeof paymentNote>

export const quoteNote = z.object({
  protocol: z.string(),
  usd: z.string(),
  baseUnits: z.string(),
  mint: z.string(),
  mintName: z.string(),
  payTo: z.string(),
})
export type QuoteNote = z.infer<typeof quoteNote>

export const refusalCodes = [
  'CONFIRMATION_NEEDED',
  'HOST_NOT_LISTED',
  'INSUFFICIENT_FUNDS',
  'LIMIT_REACHED',
  'OFFER_REFUSED',
  'OPEN_PAYMENT',
  'PAYMENT_NOT_SENT',
  'PAYMENT_REFUSED',
  'PAYMENT_UNRESOLVED',
  'PAYMENT_UNSPENT',
  'POLICY_INVALID',
  'PRICE_TOO_HIGH',
  'RECIPIENT_NOT_LISTED',
  'REQUEST_INVALID',
  'UNAVAILABLE',
  'URL_REFUSED',
  'WALLET_STOPPED',
] as const
export type RefusalCode = (typeof refusalCodes)[number]

/** `details` may contain text of the service, which a model must not read as the wallet's. */
export const refusal = z.object({
  code: z.enum(refusalCodes),
  message: z.string(),
  details: z.string().optional(),
  quote: quoteNote.optional(),
  signature: z.string().optional(),
})
export type Refusal = z.infer<typeof refusal>
