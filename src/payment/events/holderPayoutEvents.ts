import { z } from 'zod'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/*
 * Events of plans that divide a debt among the holders of the token. The payout role records these events, never the
 * service.
 */

const ofPlan = { planId: z.string(), mint: address }
const count = z.int().min(0)

/**
 * A plan. Recorded before its first part is sent. It moves no money: each part is a `DistributionPaid` with the id of
 * the plan.
 */
const holderPayoutPlanned = defineEvent(
  z.object({
    kind: z.literal('HolderPayoutPlanned'),
    ...ofPlan,
    /** Rule that derives the lines from the snapshot. */
    rule: z.literal('pro-rata-1'),
    account: z.string(),
    amountBaseUnits: baseUnits,
    snapshotSha256: z.string(),
    snapshotSlot: count,
    excluded: z.array(address).readonly(),
    minimumBaseUnits: baseUnits,
    openAccountsMax: count,
    lines: count,
    parts: count,
  }),
)

/** The plan is ended and pays no further parts. The unpaid part of its amount stays owed. */
const holderPayoutEnded = defineEvent(
  z.object({ kind: z.literal('HolderPayoutEnded'), ...ofPlan, paidBaseUnits: baseUnits }),
)

export const holderPayoutEvents = [holderPayoutPlanned, holderPayoutEnded] as const
