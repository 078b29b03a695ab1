import type { SignedReceipt } from '../payment/receipt.ts'

export function inclusionProofOf({ ledger }: Pick<SignedReceipt, 'ledger'>): string {
  return `/api/ledger/inclusion/${ledger.position}`
}
