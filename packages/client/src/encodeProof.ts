import { assertNever } from '@tollbook/core/assert'
import { encodeBase64 } from '@tollbook/core/base64'
import { utf8Bytes } from '@tollbook/core/bytes'
import type { Signature } from '@tollbook/core/signature'

/**
 * Form in which a payment is presented. `bound`: the signed transaction, not yet sent, with the secret of the quote, so
 * that no observer of the chain can use it. `transaction`: the transaction without the secret. `signature`: the
 * signature of a transaction that the payer has already sent.
 */
export const proofForms = ['bound', 'transaction', 'signature'] as const
export type ProofForm = (typeof proofForms)[number]

export interface ProofParts {
  readonly signature: Signature
  readonly transaction: Uint8Array
  /** Secret of the quote. Only the bound form uses it. */
  readonly secret: string
}

/**
 * Returns the value of the header `x-payment-proof`, in canonical padded base64.
 *
 * @example
 *   import { encodeProof } from '@tollbook/client'
 *
 *   export function headersOf(wallet: string, parts: Parameters<typeof encodeProof>[1]): Record<string, string> {
 *     return { 'x-wallet-address': wallet, 'x-payment-proof': encodeProof('bound', parts) }
 *   }
 */
export function encodeProof(form: ProofForm, { signature, transaction, secret }: ProofParts): string {
  switch (form) {
    case 'bound':
      return encodeBase64(utf8Bytes(JSON.stringify({ transaction: encodeBase64(transaction), secret })))
    case 'transaction':
      return encodeBase64(transaction)
    case 'signature':
      return encodeBase64(utf8Bytes(signature))
    default:
      return assertNever(form)
  }
}
