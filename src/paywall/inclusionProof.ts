import type { SignedReceipt } from '../payment/receipt.ts'

/**
 * Returns the address of the proof that the ledger contains the sale. The receipt does not contain this address,
 * because the receipt depends on the sale alone.
 */
export function inclusionProofOf({ ledger }: Pick<SignedReceipt, 'ledger'>): string {
  return `/api/ledger/inclusion/${ledger.position}`
}
