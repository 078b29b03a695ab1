import { readSignature } from '@tollbook/core/signature'
import { type PaymentReference, readReference, transactionReference } from '../payment/paymentReference.ts'

/** Reads the reference of a payment. Also accepts the bare signature of a transaction, which people paste. */
export function readPastedReference(text: string): PaymentReference | undefined {
  const signature = readSignature(text)
  return signature === undefined ? readReference(text) : transactionReference(signature)
}
