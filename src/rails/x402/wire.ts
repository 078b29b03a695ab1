import { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { encodeBase64, readBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'

/* The headers of x402 version 2 (page "HTTP transport" of its specification). Each is standard base64 of JSON. */

export const requiredHeader = 'payment-required'
export const paymentHeader = 'payment-signature'
export const responseHeader = 'payment-response'

export const x402Version = 2

// A transaction has at most 1,232 bytes, and the client echoes the offer: 4 kB. Node takes 16 kB of headers in all.
const charactersMax = 12_288

// The ledger numbers its lists with 32 bits, and a larger number would be a fault of the database. MPP takes nine digits too.
const priceListMax = 999_999_999

// Everything of the offer that decides is checked again, so an echo may have members that we do not know.
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

/** Undefined for a value that is not a payment by this version. */
export function readPayload(value: string): PaymentPayload | undefined {
  // Padding is optional in the wild; the transaction inside is read in its one spelling.
  const bytes = value.length <= charactersMax ? readBase64(padded(value)) : undefined
  const parsed = bytes === undefined ? undefined : paymentPayload.safeParse(parseJson(bytes))
  return parsed?.success === true ? parsed.data : undefined
}

/** JSON in base64 with padding, as x402 headers carry it. */
export function encodeHeader(content: Json): string {
  return encodeText(JSON.stringify(content))
}

/** The same for a text that is JSON already. */
export function encodeText(json: string): string {
  return encodeBase64(utf8Bytes(json))
}

function padded(value: string): string {
  const bare = value.replace(/=+$/, '')
  return bare + '='.repeat((4 - (bare.length % 4)) % 4)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    // Not JSON or not UTF-8. The schema refuses undefined.
    return undefined
  }
}
