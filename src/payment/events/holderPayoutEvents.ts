import { z } from 'zod'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* The payout role records these events, never the service. */

const ofPlan = { planId: z.string(), mint: address }
const count = z.int().min(0)

/** Recorded before its first part is sent. It moves no money: each part is a `DistributionPaid`. */
const holderPayoutPlanned = defineEvent(
  z.object({
    kind: z.literal('HolderPayoutPlanned'),
    ...ofPlan,
    /** This rule derives the lines from the snapshot, so that the audit can derive them with its own code. */
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

/** The unpaid part of the plan's amount stays owed. */
const holderPayoutEnded = defineEvent(
  z.object({ kind: z.literal('HolderPayoutEnded'), ...ofPlan, paidBaseUnits: baseUnits }),
)

export const holderPayoutEvents = [holderPayoutPlanned, holderPayoutEnded] as const
