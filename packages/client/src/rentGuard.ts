import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

export type RentGuard = ReturnType<typeof createRentGuard>

/**
 * Limits the rent that a payer pays. If the token account of a service does not exist, the payer creates it for about
 * 0.002 SOL. That is more than most requests cost, and no spending limit covers it. A service could close the account,
 * keep the rent, and give another account in each quote. So a paying fetch creates at most one account, and none after
 * a payment that created it succeeded.
 */
export function createRentGuard() {
  let account: string | undefined
  let exists = false
  return {
    admit({ quote, createsTokenAccount }: PaymentPlan): QuoteProblem | undefined {
      if (!createsTokenAccount) return undefined
      account ??= quote.paymentTokenAccount
      if (account === quote.paymentTokenAccount && !exists) return undefined
      const message = `its token account ${quote.paymentTokenAccount} does not exist, and the rent of one was paid already`
      return quoteProblem('token_account_missing', message)
    },
    delivered({ createsTokenAccount }: PaymentPlan): void {
      exists ||= createsTokenAccount
    },
  }
}
