import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

/**
 * Limits the rent that a payer pays. If the token account of a service does not exist, the payer creates it for about
 * 0.002 SOL: more than most requests cost, and outside every spending limit. The account's owner can close it and keep
 * the rent. A paying fetch therefore creates one account in its lifetime, and none after a payment that created it
 * succeeded.
 */
export interface RentGuard {
  admit(plan: PaymentPlan): QuoteProblem | undefined
  delivered(plan: PaymentPlan): void
}

/** Pays the rent of at most one missing token account: a service could name a new account in each quote. */
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
