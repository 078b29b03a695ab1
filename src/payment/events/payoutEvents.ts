import { z } from 'zod'
import { accounts, isPayable } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, signature } from './fields.ts'

const paidDebt = z.object({
  account: z.string(),
  wallet: address,
  /** Amount that left the payment wallet. The recipient gets less if the mint has a transfer fee. */
  paidBaseUnits: baseUnits,
})
export type PaidDebt = Readonly<z.output<typeof paidDebt>>

/** The payout role records this event, never the service. */
export const distributionPaid = defineEvent(
  z.object({
    kind: z.literal('DistributionPaid'),
    signature,
    planId: z.string(),
    part: z.int().min(1),
    mint: address,
    slot: z.int(),
    payments: z.array(paidDebt).readonly(),
  }),
  ({ mint, payments }) =>
    payments.map(({ account, paidBaseUnits }): Posting => {
      assert(isPayable(account), `tokens are not paid out of ${account}`)
      return { debit: account, credit: accounts.paymentWallet, mint, amountBaseUnits: paidBaseUnits }
    }),
)
export type DistributionPaid = EventOf<typeof distributionPaid>
