import type { PaymentTerms } from '../../payment/settlement.ts'

export interface WalletDeps {
  readonly terms: PaymentTerms
  /** Terms of the wallets that accept a payment that landed at this time. Absent if the payment wallet never changes. */
  readonly acceptedTerms?: (landedAtMs: number) => readonly PaymentTerms[]
}

/**
 * Returns the terms that a payment of that time may satisfy. During a change of the wallet, they include the former
 * terms.
 */
export function acceptedAt({ terms, acceptedTerms }: WalletDeps, landedAtMs: number): readonly PaymentTerms[] {
  const accepted = acceptedTerms?.(landedAtMs) ?? []
  return accepted.length === 0 ? [terms] : accepted
}
