import { assertNever } from '@tollbook/core/assert'
import type { Signature } from '@tollbook/core/signature'

/**
 * Form in which a payment is presented. `bound` sends the unsent transaction with the secret of the quote, so that no
 * observer of the chain can use it. `transaction` sends it without the secret. `signature` names a transaction that the
 * payer has sent.
 */
export const proofForms = ['bound', 'transaction', 'signature'] as const
export type ProofForm = (typeof proofForms)[number]

export interface ProofParts {
  readonly signature: Signature
  readonly transaction: Uint8Array
  /** Of the quote; used by the bound form alone. */
  readonly secret: string
}

/** The value of `x-payment-proof`: canonical padded base64. */
export function encodeProof(form: ProofForm, { signature, transaction, secret }: ProofParts): string {
  switch (form) {
    case 'bound':
      return base64(JSON.stringify({ transaction: base64(transaction), secret }))
    case 'transaction':
      return base64(transaction)
    case 'signature':
      return base64(signature)
    default:
      return assertNever(form)
  }
}

function base64(content: string | Uint8Array): string {
  return (typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content)).toString('base64')
}
