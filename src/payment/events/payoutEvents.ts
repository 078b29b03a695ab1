import { z } from 'zod'
import { accounts, isPayable } from '../../accounting/account.ts'
import type { Posting } from '../../accounting/posting.ts'
import { assert } from '@tollbook/core/assert'
import type { Address } from '@tollbook/core/address'
import type { Signature } from '@tollbook/core/signature'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits, signature } from './fields.ts'

/** Tokens left the payment wallet for those to whom they are owed. Recorded by the payout role, never by the service. */
export interface DistributionPaid {
  readonly kind: 'DistributionPaid'
  readonly signature: Signature
  readonly planId: string
  /** A plan is paid by several transactions: the number of this one, from 1. */
  readonly part: number
  readonly mint: Address
  readonly slot: number
  readonly payments: readonly PaidDebt[]
}

/** One debt that a payout has settled. */
export interface PaidDebt {
  /** The ledger account that owed it. */
  readonly account: string
  readonly wallet: Address
  /** Amount that left our wallet; of a mint with a transfer fee less arrives. */
  readonly paidBaseUnits: bigint
}

export const distributionPaid = defineEvent<DistributionPaid>({
  kind: 'DistributionPaid',
  schema: z.object({
    kind: z.literal('DistributionPaid'),
    signature,
    planId: z.string(),
    part: z.int().min(1),
    mint: address,
    slot: z.int(),
    payments: z.array(z.object({ account: z.string(), wallet: address, paidBaseUnits: baseUnits })),
  }),
  postings: ({ mint, payments }) =>
    payments.map(({ account, paidBaseUnits }): Posting => {
      assert(isPayable(account), `tokens are not paid out of ${account}`)
      return { debit: account, credit: accounts.paymentWallet, mint, amountBaseUnits: paidBaseUnits }
    }),
})
