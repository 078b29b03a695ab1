import { z } from 'zod'
import { assert } from '@tollbook/core/assert'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { sha256Hex } from '@tollbook/core/digest'
import { parseBaseUnits } from '@tollbook/core/money'
import { type Address, readAddress } from '@tollbook/core/address'

/** The id is a digest of all other fields, so a memo with the id identifies the whole plan. */
export interface PayoutPlan {
  readonly id: string
  /** CAIP-2 name. A plan is valid on this chain only. */
  readonly network: string
  readonly mint: Address
  readonly decimals: number
  readonly paymentWallet: Address
  /** Position of the newest event when the debts were read. */
  readonly position: number
  /** The chain had reached this slot before the plan existed, so no payout of the plan can have an earlier slot. */
  readonly slot: number
  /** Part n of the plan, which one transaction pays, has index n - 1. */
  readonly parts: readonly (readonly PlannedTransfer[])[]
  /** Payouts open token accounts for these wallets. Every other wallet must have one already. */
  readonly opens?: readonly Address[]
  readonly holders?: HolderTerms
}

/** The audit derives each line of the plan from these terms and the snapshot. */
export type HolderTerms = Readonly<z.output<typeof holderTerms>>

export type PlannedTransfer = Readonly<z.output<typeof plannedTransfer>>

export type PlanHead = Pick<PayoutPlan, 'network' | 'mint' | 'decimals' | 'paymentWallet' | 'position' | 'slot'>

/** Copies only the fields of the head, because the digest of the plan covers every field. */
export function planHead({ network, mint, decimals, paymentWallet, position, slot }: PlanHead): PlanHead {
  return { network, mint, decimals, paymentWallet, position, slot }
}

// Maximum of lines of one part. Plans for holders use it, and a part of any other plan has at most 5 lines.
const linesMax = 8

export function identifiedPlan(content: Omit<PayoutPlan, 'id'>): PayoutPlan {
  const { parts } = content
  assert(
    parts.every(({ length }) => length > 0 && length <= linesMax),
    'readPayoutPlan accepts each part',
  )
  assert(
    parts.flat().every(({ baseUnits }) => baseUnits > 0n),
    'a transfer moves tokens',
  )
  return { ...content, id: idOf(content) }
}

export function splitIntoParts(
  lines: readonly PlannedTransfer[],
  partMax: number,
): readonly (readonly PlannedTransfer[])[] {
  assert(partMax > 0 && partMax <= linesMax, 'a part fits into a transaction')
  const parts = Array.from({ length: Math.ceil(lines.length / partMax) }, (_, index) =>
    lines.slice(index * partMax, (index + 1) * partMax),
  )
  assert(parts.flat().length === lines.length, 'each line is in one part')
  return parts
}

const memoPrefix = 'tollbook-payout:'

export function payoutMemo(plan: Pick<PayoutPlan, 'id'>, part: number): string {
  assert(part >= 1, 'the parts of a plan count from 1')
  return `${memoPrefix}${plan.id}:${part}`
}

export function isPayoutMemo(memo: string): boolean {
  return memo.includes(memoPrefix)
}

const format = 'tollbook-payout-1'

/** Amounts are decimal strings of base units, because JSON numbers lose digits beyond 2^53. */
export function payoutPlanJson(plan: PayoutPlan): Json {
  return { format, id: plan.id, ...contentJson(plan) }
}

const address = z.string().transform((text, context): Address => {
  const read = readAddress(text)
  if (read !== undefined) return read
  context.addIssue('not an address')
  return z.NEVER
})
const amount = z.string().transform(parseBaseUnits)
const plannedTransfer = z.object({ account: z.string(), wallet: address, baseUnits: amount })
const holderTerms = z.object({
  account: z.string(),
  amountBaseUnits: amount,
  snapshotSha256: z.string(),
  snapshotSlot: z.int(),
  excluded: z.array(address).readonly(),
  minimumBaseUnits: amount,
  openAccountsMax: z.int(),
})
const planFile = z.object({
  format: z.literal(format),
  id: z.string(),
  network: z.string(),
  mint: address,
  decimals: z.int(),
  paymentWallet: address,
  position: z.int(),
  slot: z.int(),
  parts: z.array(z.array(plannedTransfer).min(1).max(linesMax)),
  opens: z.array(address).exactOptional(),
  holders: holderTerms.exactOptional(),
})

/** Undefined for content that is not a plan, or that was changed after it was written. */
export function readPayoutPlan(json: unknown): PayoutPlan | undefined {
  const parsed = planFile.safeParse(json)
  if (!parsed.success) return undefined
  const { format: _format, ...plan } = parsed.data
  return idOf(plan) === plan.id && addsUp(plan) ? plan : undefined
}

/**
 * True if a plan for holders pays exactly its amount, and only from its account. The id does not prove this, because
 * anyone can compute the digest of a changed plan. Also true for every other plan.
 */
function addsUp({ parts, holders }: PayoutPlan): boolean {
  if (holders === undefined) return true
  const lines = parts.flat()
  const sumBaseUnits = lines.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)
  return sumBaseUnits === holders.amountBaseUnits && lines.every(({ account }) => account === holders.account)
}

function idOf(content: Omit<PayoutPlan, 'id'>): string {
  return `payout_${sha256Hex(canonicalJson(contentJson(content))).slice(0, 32)}`
}

function contentJson(content: Omit<PayoutPlan, 'id'>): { readonly [key: string]: Json } {
  const { parts, opens = [], holders } = content
  assert(parts.length > 0, 'a plan has transfers')
  return {
    ...(holders === undefined ? {} : { holders: holdersJson(holders) }),
    ...(opens.length === 0 ? {} : { opens }),
    ...planHead(content),
    parts: parts.map((part) =>
      part.map(({ account, wallet, baseUnits }) => ({ account, wallet, baseUnits: baseUnits.toString() })),
    ),
  }
}

function holdersJson({ amountBaseUnits, minimumBaseUnits, ...terms }: HolderTerms): Json {
  return {
    ...terms,
    amountBaseUnits: amountBaseUnits.toString(),
    minimumBaseUnits: minimumBaseUnits.toString(),
  }
}
