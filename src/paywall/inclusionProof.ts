import type { SignedReceipt } from '../payment/receipt.ts'

/** Address of the proof that the ledger holds the sale. The receipt does not contain it: a receipt is a function of the sale alone. */
export function inclusionProofOf({ ledger }: Pick<SignedReceipt, 'ledger'>): string {
  return `/api/ledger/inclusion/${ledger.position}`
}
