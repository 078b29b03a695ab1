import { z } from 'zod'
import { accounts, refundDueTo } from '../../accounting/account.ts'
import type { Address } from '@tollbook/core/address'
import type { PaymentReference } from '../paymentReference.ts'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits, reference } from './fields.ts'

/* Decisions of people about the refund of one payment. Recorded by the finance role, never by the service. */

export const refundRoles = ['finance', 'support'] as const
export type RefundRole = (typeof refundRoles)[number]

/** Person who decided, and the reason. */
export interface Decider {
  /** Subject of the token, or the name that was given on the command line. */
  readonly by: string
  readonly role: RefundRole
  /** Login of the database session; the database refuses any other. */
  readonly login: string
  readonly reason: string
}

interface Decision extends Decider {
  readonly payment: PaymentReference
  readonly wallet: Address
  readonly mint: Address
}

/** A debt of the ledger to one wallet. */
export interface RefundDebt {
  readonly account: string
  readonly baseUnits: bigint
}

/** A person agreed that these debts of the payment are paid back. Moves nothing: the debts are on record. */
export interface RefundApproved extends Decision {
  readonly kind: 'RefundApproved'
  readonly debts: readonly RefundDebt[]
}

/** A person gave back the price of an answer that was delivered. The shares stay earned, so it is an expense. */
export interface RefundGranted extends Decision {
  readonly kind: 'RefundGranted'
  readonly amountBaseUnits: bigint
}

const decision = {
  payment: reference,
  wallet: address,
  mint: address,
  by: z.string().min(1),
  role: z.enum(refundRoles),
  login: z.string().min(1),
  reason: z.string().min(1),
}

const refundApproved = defineEvent<RefundApproved>({
  kind: 'RefundApproved',
  schema: z.object({
    kind: z.literal('RefundApproved'),
    ...decision,
    debts: z.array(z.object({ account: z.string(), baseUnits })),
  }),
})

const refundGranted = defineEvent<RefundGranted>({
  kind: 'RefundGranted',
  schema: z.object({ kind: z.literal('RefundGranted'), ...decision, amountBaseUnits: baseUnits }),
  postings: ({ mint, wallet, amountBaseUnits }) => [
    { debit: accounts.refundsGranted, credit: refundDueTo(wallet), mint, amountBaseUnits },
  ],
})

export const refundEvents = [refundApproved, refundGranted] as const
