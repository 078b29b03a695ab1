import { z } from 'zod'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* Plans that divide a debt among the holders of the token. The payout role records them, never the service. */

const ofPlan = { planId: z.string(), mint: address }
const count = z.int().min(0)

/** Recorded before the first part is sent. It moves no money: each part is a `DistributionPaid` with the id of the plan. */
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

/** The plan pays no further parts. The rest of its amount stays owed. */
const holderPayoutEnded = defineEvent(
  z.object({ kind: z.literal('HolderPayoutEnded'), ...ofPlan, paidBaseUnits: baseUnits }),
)

export const holderPayoutEvents = [holderPayoutPlanned, holderPayoutEnded] as const
