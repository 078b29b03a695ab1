import type { PaymentLedger } from '../payment/paymentLedger.ts'
import { readReference } from '../payment/paymentReference.ts'
import type { SignedReceipt } from '../payment/receipt.ts'
import { inclusionProofOf } from './inclusionProof.ts'
import type { SignReceipt } from './sendReceipt.ts'

export interface FindReceiptDeps {
  readonly ledger: Pick<PaymentLedger, 'findDelivery'>
  readonly signReceipt: SignReceipt
}

export interface FoundReceipt {
  readonly receipt: SignedReceipt
  readonly inclusionProof: string
}

export interface ReceiptQuestion {
  readonly reference: string
  readonly attemptId: string
}

/**
 * Serves a caller who has not received the receipt with the answer. The attempt id is random and required, because the
 * reference of a payment is public.
 */
export async function findReceipt(
  { ledger, signReceipt }: FindReceiptDeps,
  { reference: text, attemptId }: ReceiptQuestion,
): Promise<FoundReceipt | undefined> {
  const reference = readReference(text)
  if (reference === undefined) return undefined
  const fulfilment = await ledger.findDelivery({ reference, attemptId })
  if (fulfilment === undefined) return undefined
  const receipt = await signReceipt(fulfilment)
  return { receipt, inclusionProof: inclusionProofOf(receipt) }
}
