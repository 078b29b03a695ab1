import type { PaymentTerms } from '../../payment/settlement.ts'

export interface WalletDeps {
  readonly terms: PaymentTerms
  /** Terms of the wallets to which a payment that landed then may go. Absent: the payment wallet never changes. */
  readonly acceptedTerms?: (landedAtMs: number) => readonly PaymentTerms[]
}

/** Terms that a payment of that time may satisfy: during a change of the wallet, those before it too. */
export function acceptedAt({ terms, acceptedTerms }: WalletDeps, landedAtMs: number): readonly PaymentTerms[] {
  const accepted = acceptedTerms?.(landedAtMs) ?? []
  return accepted.length === 0 ? [terms] : accepted
}
