import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

/**
 * The account that a service is paid into may not be there yet, and then the payer creates it, for about 0.002 SOL of
 * rent: more than most requests cost, and in no spending limit. Whoever owns the account can close it and keep the rent.
 * So one account is created in the life of a paying fetch, and not again once a payment that created it has gone through.
 */
export interface RentGuard {
  admit(plan: PaymentPlan): QuoteProblem | undefined
  delivered(plan: PaymentPlan): void
}

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
