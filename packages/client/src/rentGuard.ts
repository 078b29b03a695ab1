import { fateOf } from './landTransaction.ts'
import type { PayerChain } from './payerChain.ts'
import type { PendingPayment } from './pendingPayment.ts'
import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

export type RentGuard = ReturnType<typeof createRentGuard>

/**
 * Limits the rent that a payer pays, because no spending limit covers it. If the token account of a service does not
 * exist, the payer creates it. A service could close the account, keep the rent, and name another account in each
 * quote. So a paying fetch creates one account. It pays rent again only if the chain proves that the earlier payment
 * never lands.
 */
export function createRentGuard(chain: Pick<PayerChain, 'findStatus' | 'finalizedTip'>) {
  let account: string | undefined
  const ended: PendingPayment[] = []
  const mayHavePaid = async () => {
    const fates = await Promise.all(ended.map((payment) => fateOf(chain, payment)))
    return fates.some((fate) => fate !== 'never')
  }
  return {
    async admit({ quote, createsTokenAccount }: PaymentPlan): Promise<QuoteProblem | undefined> {
      if (!createsTokenAccount) return undefined
      account ??= quote.paymentTokenAccount
      if (account === quote.paymentTokenAccount && !(await mayHavePaid())) return undefined
      const message = `its token account ${quote.paymentTokenAccount} does not exist, and the rent of one account is paid once`
      return quoteProblem('token_account_missing', message)
    },
    /** Call this after each call that signed a payment, whatever the outcome. */
    ended({ createsTokenAccount }: PaymentPlan, payment: PendingPayment): void {
      if (createsTokenAccount) ended.push(payment)
    },
  }
}
