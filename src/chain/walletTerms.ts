import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import { tokenAccountOf } from './payoutTransaction.ts'

/** The terms of a mint, paid to another wallet. */
export function termsOfWallet(terms: PaymentTerms, paymentWallet: Address): PaymentTerms {
  return { ...terms, paymentWallet, paymentTokenAccount: tokenAccountOf(terms, paymentWallet) }
}

/** Terms of each mint for each of its wallets: the configured one first, then the others that hold tokens. */
export function termsOfWallets(every: readonly PaymentTerms[], wallets: readonly Address[]): readonly PaymentTerms[] {
  return every.flatMap((terms) => {
    const others = new Set(wallets)
    others.delete(terms.paymentWallet)
    return [terms, ...[...others].map((wallet) => termsOfWallet(terms, wallet))]
  })
}
