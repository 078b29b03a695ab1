import type { PaymentTerms } from '../../payment/settlement.ts'

export interface WalletDeps {
  readonly terms: PaymentTerms
  /**
   * Returns the terms of all wallets that accept a payment with this landing time. Absent if the payment wallet never
   * changes.
   */
  readonly acceptedTerms?: (landedAtMs: number) => readonly PaymentTerms[]
}

/** Returns the accepted terms. While the payment wallet changes, they include the former terms. */
export function acceptedAt({ terms, acceptedTerms }: WalletDeps, landedAtMs: number): readonly PaymentTerms[] {
  const accepted = acceptedTerms?.(landedAtMs) ?? []
  return accepted.length === 0 ? [terms] : accepted
}
