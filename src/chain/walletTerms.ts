import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import { tokenAccountOf } from './payoutTransaction.ts'

export function termsOfWallet(terms: PaymentTerms, paymentWallet: Address): PaymentTerms {
  return { ...terms, paymentWallet, paymentTokenAccount: tokenAccountOf(terms, paymentWallet) }
}

/** The configured wallet of each mint comes first, then the other given wallets. */
export function termsOfWallets(every: readonly PaymentTerms[], wallets: readonly Address[]): readonly PaymentTerms[] {
  return every.flatMap((terms) => {
    const others = new Set(wallets)
    others.delete(terms.paymentWallet)
    return [terms, ...[...others].map((wallet) => termsOfWallet(terms, wallet))]
  })
}
