import type { SignedReceipt } from '../payment/receipt.ts'

/** The receipt does not contain this address, because the receipt depends on the sale alone. */
export function inclusionProofOf({ ledger }: Pick<SignedReceipt, 'ledger'>): string {
  return `/api/ledger/inclusion/${ledger.position}`
}
