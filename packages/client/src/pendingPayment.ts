import { z } from 'zod'
import { readBase64 } from '@tollbook/core/base64'
import { parseJson } from '@tollbook/core/json'
import { readSignature } from '@tollbook/core/signature'
import { proofForms } from './encodeProof.ts'
import { sponsoredProtocols } from './sponsored/sponsoredOffer.ts'

const canonicalBase64 = z.string().refine((text) => readBase64(text) !== undefined)

/**
 * A signed payment, everything needed to present it again, and its request. It is plain JSON. Written to a file before
 * the payment leaves, it outlives the process. Protect it until the answer arrives: its proof buys one answer.
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
  /** Base58. Identifies the payment on chain once it has landed. */
  signature: z.string().refine((text) => readSignature(text) !== undefined),
  /** The value of `x-payment-proof`, or of the header of `protocol`. With `inMeta`, members of `_meta` as JSON. */
  proof: z.string(),
  /** Protocol of another service. `signature` is then the wallet's; on chain the fee payer's comes first. */
  protocol: z.enum(sponsoredProtocols).exactOptional(),
  /** The request is a call of a tool, and its payment by `protocol` travels in `_meta`. */
  inMeta: z.literal(true).exactOptional(),
  /** Present for a debit of a tab: the deposit, which its receipt names, and its own reference. */
  debit: z.object({ deposit: z.string(), reference: z.string() }).exactOptional(),
  /** The payment opens or tops up a tab of this wallet. */
  isDeposit: z.literal(true).exactOptional(),
  idempotencyKey: z.string(),
  /** The signed transaction, base64. */
  transaction: canonicalBase64,
  /** A payment that has not landed by this block height never will. */
  lastValidBlockHeight: z.int(),
  mint: z.string(),
  costBaseUnits: z.string(),
  /** Cost in 10⁻¹⁸ US dollars, according to the service. */
  costAttoUsd: z.string().exactOptional(),
  signedAtMs: z.int().exactOptional(),
})

export type PendingPayment = z.infer<typeof pendingPayment>

export type PendingRequest = PendingPayment['request']

/**
 * Undefined if the text is not a stored payment.
 *
 * @example
 *   ```ts
 *   import { readFile } from 'node:fs/promises'
 *   import { type PayingFetch, readPendingPayment } from '@tollbook/client'
 *
 *   export async function resumeFile(payingFetch: PayingFetch, path: string): Promise<Response> {
 *   const payment = readPendingPayment(await readFile(path, 'utf8'))
 *   if (payment === undefined) throw new Error(`${path} is not a stored payment`)
 *   return payingFetch.resume(payment)
 *   }
 *   ```
 */
export function readPendingPayment(text: string): PendingPayment | undefined {
  return pendingPayment.safeParse(parseJson(text)).data
}
