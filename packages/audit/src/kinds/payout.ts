import { z } from 'zod'
import { accountClasses, classOf } from '../accountClass.ts'
import { baseUnits } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { solanaId, solanaStream } from '../streamName.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'
import { judgePart } from './holderPayout.ts'

const payable = accountClasses.filter(({ payableTo }) => payableTo !== undefined)

const paid = bodyOf('DistributionPaid', {
  signature: z.string(),
  planId: z.string(),
  part: z.int(),
  mint: z.string(),
  slot: z.int(),
  payments: z.array(z.strictObject({ account: z.string(), wallet: z.string(), paidBaseUnits: baseUnits })),
})

/** Each payout transaction is recorded once, and must not pay more than is owed. */
export const payout: AuditedKind = {
  kind: 'payout',
  ...solanaId,
  steps: [
    declareStep({
      step: 'payout.record',
      to: 'paid',
      events: ['DistributionPaid'],
      moves: payable.map((debt) => `${debt.class}>wallet`),
      writer: 'payout',
    }),
  ],
  events: new Map([
    eventOf(paid, {
      postings: ({ payments }) =>
        payments.map(({ account, paidBaseUnits }) => [account, 'Assets:PaymentWallet', paidBaseUnits]),
      judge(event, at) {
        judgePayout(event, at)
        judgePart(event, at)
      },
      onChain: ({ mint, slot, payments, effectiveAt }) => ({
        is: 'change',
        mint,
        slot,
        changeBaseUnits: payments.reduce((sum, { paidBaseUnits }) => sum - paidBaseUnits, 0n),
        leftAtMs: effectiveAt,
        receivers: payments,
      }),
    }),
  ]),
}

function judgePayout(
  { stream, signature, mint, payments }: z.output<typeof paid>,
  { row, blame, ledger }: Judged,
): void {
  row.mint = mint
  if (stream !== solanaStream(signature)) blame('lifecycle_impossible', 'the payout has another signature')
  for (const { account, wallet } of payments) {
    const debt = classOf(account)
    if (debt?.payableTo === undefined) blame('lifecycle_impossible', `nothing is paid out of ${account}`)
    else if (debt.payableTo === 'its wallet' && account !== debt.prefix + wallet)
      blame('owner_differs', `the debt was paid to ${wallet}`, account)
    const balanceBaseUnits = ledger.postings.balanceOf(mint, account)
    if (balanceBaseUnits > 0n) blame('payout_exceeds', `${balanceBaseUnits} more were paid than was owed`, account)
  }
}
