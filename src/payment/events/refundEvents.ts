import { z } from 'zod'
import { accounts, refundDueTo } from '../../accounting/account.ts'
import { defineEvent, type EventOf } from './eventDefinition.ts'
import { address, baseUnits, reference } from './fields.ts'

/* The finance role records these decisions of people, never the service. */

export const refundRoles = ['finance', 'support'] as const
export type RefundRole = (typeof refundRoles)[number]

const decider = z.object({
  /** Person who made the decision: the subject of the access token, or the name from the command line. */
  by: z.string().min(1),
  role: z.enum(refundRoles),
  login: z.string().min(1),
  reason: z.string().min(1),
})
export type Decider = Readonly<z.output<typeof decider>>

const refundDebt = z.object({ account: z.string(), baseUnits })
export type RefundDebt = Readonly<z.output<typeof refundDebt>>

const decision = { payment: reference, wallet: address, mint: address, ...decider.shape }

/** Moves no money, because the debts are already on record. */
const refundApproved = defineEvent(
  z.object({ kind: z.literal('RefundApproved'), ...decision, debts: z.array(refundDebt).readonly() }),
)
export type RefundApproved = EventOf<typeof refundApproved>

/** The recipients keep their shares of the delivered answer, so the refund is an expense of the service. */
const refundGranted = defineEvent(
  z.object({ kind: z.literal('RefundGranted'), ...decision, amountBaseUnits: baseUnits }),
  ({ mint, wallet, amountBaseUnits }) => [
    { debit: accounts.refundsGranted, credit: refundDueTo(wallet), mint, amountBaseUnits },
  ],
)
export type RefundGranted = EventOf<typeof refundGranted>

export const refundEvents = [refundApproved, refundGranted] as const
