import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import type { Address } from '@tollbook/core/address'
import type { PaymentTerms } from '../payment/settlement.ts'
import { addressOfKey } from './accountStates.ts'

export function tokenAccountOf(
  { mint, tokenProgram }: Pick<PaymentTerms, 'mint' | 'tokenProgram'>,
  wallet: Address,
): Address {
  const [token, program] = [new PublicKey(mint), new PublicKey(tokenProgram)]
  return addressOfKey(getAssociatedTokenAddressSync(token, new PublicKey(wallet), true, program))
}

export function termsOfWallet(terms: PaymentTerms, paymentWallet: Address): PaymentTerms {
  return { ...terms, paymentWallet, paymentTokenAccount: tokenAccountOf(terms, paymentWallet) }
}

/** Returns each mint's terms for its configured wallet, followed by its terms for the other given wallets. */
export function termsOfWallets(every: readonly PaymentTerms[], wallets: readonly Address[]): readonly PaymentTerms[] {
  return every.flatMap((terms) => {
    const others = new Set(wallets)
    others.delete(terms.paymentWallet)
    return [terms, ...[...others].map((wallet) => termsOfWallet(terms, wallet))]
  })
}
