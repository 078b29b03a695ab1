import { z } from 'zod'
import { accounts, isPayable } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, signature } from './fields.ts'

/** One debt that a payout has settled. */
const paidDebt = z.object({
  /** The ledger account that owed it. */
  account: z.string(),
  wallet: address,
  /** Amount that left our wallet; of a mint with a transfer fee less arrives. */
  paidBaseUnits: baseUnits,
})
export type PaidDebt = Readonly<z.output<typeof paidDebt>>

/** Tokens left the payment wallet for those to whom they are owed. Recorded by the payout role, never by the service. */
export const distributionPaid = defineEvent(
  z.object({
    kind: z.literal('DistributionPaid'),
    signature,
    planId: z.string(),
    /** A plan is paid by several transactions: the number of this one, from 1. */
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
