import { z } from 'zod'
import type { Address } from '@tollbook/core/address'
import type { HolderTerms } from '../../accounting/payoutPlan.ts'
import { defineEvent } from './eventDefinition.ts'
import { address, baseUnits } from './fields.ts'

/* Plans that divide a debt among the holders of the token. Recorded by the payout role, never by the service. */

interface HolderPayout {
  readonly planId: string
  readonly mint: Address
}

/** Recorded before the first part is sent. Moves nothing: each part is a `DistributionPaid` that names the plan. */
export interface HolderPayoutPlanned extends HolderPayout, HolderTerms {
  readonly kind: 'HolderPayoutPlanned'
  /** Way in which the lines follow from the snapshot. */
  readonly rule: 'pro-rata-1'
  readonly lines: number
  readonly parts: number
}

/** The plan pays nothing more. The rest of its amount stays owed. */
export interface HolderPayoutEnded extends HolderPayout {
  readonly kind: 'HolderPayoutEnded'
  readonly paidBaseUnits: bigint
}

const holderPayout = { planId: z.string(), mint: address }
const count = z.int().min(0)

const holderPayoutPlanned = defineEvent<HolderPayoutPlanned>({
  kind: 'HolderPayoutPlanned',
  schema: z.object({
    kind: z.literal('HolderPayoutPlanned'),
    ...holderPayout,
    rule: z.literal('pro-rata-1'),
    account: z.string(),
    amountBaseUnits: baseUnits,
    snapshotSha256: z.string(),
    snapshotSlot: count,
    excluded: z.array(address),
    minimumBaseUnits: baseUnits,
    openAccountsMax: count,
    lines: count,
    parts: count,
  }),
})

const holderPayoutEnded = defineEvent<HolderPayoutEnded>({
  kind: 'HolderPayoutEnded',
  schema: z.object({ kind: z.literal('HolderPayoutEnded'), ...holderPayout, paidBaseUnits: baseUnits }),
})

export const holderPayoutEvents = [holderPayoutPlanned, holderPayoutEnded] as const
