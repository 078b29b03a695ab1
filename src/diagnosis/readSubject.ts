import type { PaymentReference } from '../payment/paymentReference.ts'
import { readPastedReference } from '../reports/pastedReference.ts'

export type Subject =
  | { readonly kind: 'payment'; readonly reference: PaymentReference }
  | { readonly kind: 'quote'; readonly id: string }
  | { readonly kind: 'receipt'; readonly leafHashStart: string }

// Maximum characters of a subject. The longest is a reference: `solana:` and 88 characters.
const charactersMax = 100

/**
 * Parses the id, reference or signature of a payment. Removes spaces and line breaks, which clipboards add. Undefined
 * if the text has another form.
 */
export function readSubject(pasted: string): Subject | undefined {
  if (pasted.length > charactersMax) return undefined
  const text = pasted.trim()
  const reference = readPastedReference(text)
  if (reference !== undefined) return { kind: 'payment', reference }
  if (/^quote_[A-Za-z0-9_-]{22}$/.test(text)) return { kind: 'quote', id: text }
  // A receipt id has the first 16 bytes of the leaf hash of its delivery.
  const [, leafHashStart] = /^receipt_([0-9a-f]{32})$/.exec(text) ?? []
  return leafHashStart === undefined ? undefined : { kind: 'receipt', leafHashStart }
}

export const subjectForms =
  'a signature, a reference such as solana:<signature>, a receipt id such as receipt_<32 hex digits>, or a quote id such as quote_<22 characters>'
