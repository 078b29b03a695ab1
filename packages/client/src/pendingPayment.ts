import { z } from 'zod'
import { readBase64 } from '@tollbook/core/base64'
import { parseJson } from '@tollbook/core/json'
import { readSignature } from '@tollbook/core/signature'
import { proofForms } from './encodeProof.ts'
import { sponsoredProtocols } from './sponsored/sponsoredOffer.ts'

const canonicalBase64 = z.string().refine((text) => readBase64(text) !== undefined)

/**
 * A signed payment with its request, as plain JSON: everything that is needed to present it again. A copy on disk
 * survives the process. Protect it until the answer arrives, because its proof buys one answer.
 */
export const pendingPayment = z.object({
  format: z.literal('tollbook-payment-1'),
  request: z.object({
    method: z.string(),
    url: z.url(),
    headers: z.array(z.tuple([z.string(), z.string()])),
    bodyBase64: canonicalBase64.optional(),
  }),
  wallet: z.string(),
  form: z.enum(proofForms),
  /** Signature in base58. Identifies a payment on chain once it has landed. A debit has no transaction on chain. */
  signature: z.string().refine((text) => readSignature(text) !== undefined),
  /** Value of `x-payment-proof`, or of the payment header of `protocol`. With `inMeta`, the members of `_meta` as JSON. */
  proof: z.string(),
  /**
   * Other payment protocol, if one is used. `signature` is then the wallet's signature. On chain the fee payer's
   * signature comes first and identifies the transaction.
   */
  protocol: z.enum(sponsoredProtocols).exactOptional(),
  /** Present if the request is a tool call that carries its payment by `protocol` in `_meta`. */
  inMeta: z.literal(true).exactOptional(),
  /**
   * Present for a debit of a tab. `deposit` is the deposit that the receipt refers to; `reference` identifies the
   * debit.
   */
  debit: z.object({ deposit: z.string(), reference: z.string() }).exactOptional(),
  /** Present if the payment opens or tops up a tab. */
  isDeposit: z.literal(true).exactOptional(),
  idempotencyKey: z.string(),
  transaction: canonicalBase64,
  /** Block height after which the transaction can no longer land. */
  lastValidBlockHeight: z.int(),
  mint: z.string(),
  costBaseUnits: z.string(),
  /** Cost in 10⁻¹⁸ US dollars, as the spending limits count it. Absent: counts as zero. */
  costAttoUsd: z.string().exactOptional(),
  signedAtMs: z.int().exactOptional(),
})

export type PendingPayment = z.infer<typeof pendingPayment>

export type PendingRequest = PendingPayment['request']

/**
 * Parses and validates a stored payment. Undefined if the text is not a stored payment.
 *
 * @example
 *   import { readFile } from 'node:fs/promises'
 *   import { type PayingFetch, readPendingPayment } from '@tollbook/client'
 *
 *   export async function resumeFile(payingFetch: PayingFetch, path: string): Promise<Response> {
 *     const payment = readPendingPayment(await readFile(path, 'utf8'))
 *     if (payment === undefined) throw new Error(`${path} is not a stored payment`)
 *     return payingFetch.resume(payment)
 *   }
 */
export function readPendingPayment(text: string): PendingPayment | undefined {
  return pendingPayment.safeParse(parseJson(text)).data
}
