import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import { parseJsonBytes } from '@tollbook/core/json'

/* Headers of x402 version 2 (page "HTTP transport" of its specification), each in standard base64 of JSON. */

export const requiredHeader = 'payment-required'
export const paymentHeader = 'payment-signature'
export const responseHeader = 'payment-response'

export const x402Version = 2

// Maximum length of the header. A transaction has at most 1,232 bytes, so the header with the repeated offer has about
// 4 kB. Node accepts 16 kB of headers in total.
const charactersMax = 12_288

// Maximum number of a price list: nine digits, as in MPP. The ledger stores the number in 32 bits, so a number with ten
// digits could cause a database fault.
const priceListMax = 999_999_999

// Schema of a payment with the repeated offer. Unknown members are allowed, because the client repeats the whole offer.
const paymentPayload = z.object({
  x402Version: z.literal(x402Version),
  accepted: z.object({
    scheme: z.string(),
    network: z.string(),
    amount: z.string(),
    asset: z.string(),
    payTo: z.string(),
    extra: z.object({
      feePayer: z.string(),
      secret: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
      priceList: z.int().min(1).max(priceListMax),
    }),
  }),
  payload: z.object({ transaction: z.string() }),
  extensions: z.unknown().optional(),
})

export type PaymentPayload = z.infer<typeof paymentPayload>

export function readPayload(value: string): PaymentPayload | undefined {
  return value.length <= charactersMax ? paymentPayload.safeParse(decodeHeader(value)).data : undefined
}

export function encodeHeader(content: Json): string {
  return encodeText(JSON.stringify(content))
}

export function encodeText(json: string): string {
  return encodeBase64(utf8Bytes(json))
}

export function decodeHeader(value: string): unknown {
  // Add missing padding, which some clients omit. The transaction inside the JSON must still be in canonical base64.
  const bytes = readBase64(padded(value))
  return bytes === undefined ? undefined : parseJsonBytes(bytes)
}

function padded(value: string): string {
  const bare = value.replace(/=+$/, '')
  return bare + '='.repeat((4 - (bare.length % 4)) % 4)
}
