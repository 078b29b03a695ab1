import { fateOf } from './landTransaction.ts'
import type { PayerChain } from './payerChain.ts'
import type { PendingPayment } from './pendingPayment.ts'
import type { PaymentPlan } from './planPayment.ts'
import { type QuoteProblem, quoteProblem } from './quoteProblem.ts'

export type RentGuard = ReturnType<typeof createRentGuard>

/**
 * Limits the rent that a payer pays. If the token account of a service does not exist, the payer creates it for about
 * 0.002 SOL. No spending limit covers this rent. A service could close the account, keep the rent, and give another
 * account in each quote, or refuse each payment that created it. So a paying fetch creates one account only. After a
 * call that signed such a payment, it pays the rent again only if the chain proves that the payment never lands.
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
    /** Call it when the call of a signed payment has ended, with any outcome. */
    ended({ createsTokenAccount }: PaymentPlan, payment: PendingPayment): void {
      if (createsTokenAccount) ended.push(payment)
    },
  }
}
