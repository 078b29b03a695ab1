import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

/**
 * The token account of a service may not exist yet. The payer then creates it, for about 0.002 SOL of rent: more than
 * most requests cost, and outside every spending limit. The account's owner can close it and keep the rent. A paying
 * fetch therefore creates one account in its lifetime, and none after a payment that created it has succeeded.
 */
export interface RentGuard {
  admit(plan: PaymentPlan): QuoteProblem | undefined
  delivered(plan: PaymentPlan): void
}

/** Pays the rent of one missing token account at most: a service could otherwise name a new account in each quote. */
export function createRentGuard(): RentGuard {
  let account: string | undefined
  let exists = false
  return {
    admit({ quote, createsTokenAccount }) {
      if (!createsTokenAccount) return undefined
      account ??= quote.paymentTokenAccount
      if (account === quote.paymentTokenAccount && !exists) return undefined
      const message = `its token account ${quote.paymentTokenAccount} does not exist, and the rent of one was paid already`
      return quoteProblem('token_account_missing', message)
    },
    delivered({ createsTokenAccount }) {
      exists ||= createsTokenAccount
    },
  }
}
