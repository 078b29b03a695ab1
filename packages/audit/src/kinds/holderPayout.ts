import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type AuditState, StateDocument } from '../auditState.ts'
import { baseUnits } from '../body.ts'
import { declareStep } from '../declaredKind.ts'
import { derivePlan, type HolderSnapshot } from '../holderSnapshot.ts'
import { type AuditedKind, bodyOf, eventOf, type Judged } from './auditedKind.ts'

/*
 * Stream kind for plans that divide a debt among token holders. A mint has at most one open plan. Each part of a plan
 * is paid once, and each line must follow from the snapshot of holders.
 */

const text = z.string()

const planned = bodyOf('HolderPayoutPlanned', {
  planId: text,
  mint: text,
  account: text,
  amountBaseUnits: baseUnits,
  excluded: z.array(text),
  lines: z.int(),
  minimumBaseUnits: baseUnits,
  openAccountsMax: z.int(),
  parts: z.int(),
  rule: z.literal('pro-rata-1'),
  snapshotSha256: text,
  snapshotSlot: z.int(),
})
const ended = bodyOf('HolderPayoutEnded', { planId: text, mint: text, paidBaseUnits: baseUnits })

interface HolderPlan {
  readonly planId: string
  readonly mint: string
  readonly account: string
  readonly amountBaseUnits: bigint
  readonly parts: number
  paidBaseUnits: bigint
  /** Numbers of the parts that have been paid, from 1. */
  readonly paidParts: Set<number>
  isEnded: boolean
  /** SHA-256 of the lines of each part, derived from the snapshot. Undefined if the snapshot is missing. */
  readonly derived: readonly string[] | undefined
}

const plans = new StateDocument('holderPlans', () => new Map<string, HolderPlan>())

/** Returns the number of plans whose lines were derived from their snapshot, and the number of plans without a snapshot. */
export function holderFigures(state: AuditState): { readonly derived: number; readonly underived: number } {
  const all = [...plans.of(state).values()]
  const derived = all.filter((plan) => plan.derived !== undefined).length
  return { derived, underived: all.length - derived }
}

const step = { writer: 'payout' } as const

export const holderPayout: AuditedKind = {
  kind: 'holder_payout',
  space: 5,
  idBytes: 16,
  idPrefix: '',
  isSetting: false,
  nameOf: (key) => `holders:payout_${key.toString('hex')}`,
  steps: [
    declareStep({ ...step, step: 'holder_payout.plan', to: 'planned', events: ['HolderPayoutPlanned'] }),
    declareStep({ ...step, step: 'holder_payout.end', from: 'planned', to: 'ended', events: ['HolderPayoutEnded'] }),
  ],
  events: new Map([eventOf(planned, { judge: judgePlanned }), eventOf(ended, { judge: judgeEnded })]),
}

type Say = (message: string) => void

function sayAt({ blame }: Judged): Say {
  return (message) => blame('holder_payout_differs', message)
}

function judgePlanned(event: z.output<typeof planned>, at: Judged): void {
  const { planId, stream, mint, account, amountBaseUnits, parts } = event
  const say = sayAt(at)
  if (stream !== `holders:${planId}`) say(`the stream is of another plan than ${planId}`)
  const open = findOpen(at, mint)
  if (open !== undefined) say(`the plan ${open.planId} has not ended`)
  if (!/^Liabilities:Share:[a-z]/.test(account)) say(`${account} is not a share`)
  const owedBaseUnits = -at.ledger.postings.balanceOf(mint, account)
  if (amountBaseUnits > owedBaseUnits || amountBaseUnits === 0n)
    say(`${amountBaseUnits} are planned of ${owedBaseUnits} that are owed`)
  const snapshot = at.ledger.snapshots.get(event.snapshotSha256)
  const derived = snapshot === undefined ? undefined : deriveParts(event, snapshot, say)
  const terms = { planId, mint, account, amountBaseUnits, parts, derived }
  plans.of(at.ledger.state).set(planId, { ...terms, paidBaseUnits: 0n, paidParts: new Set(), isEnded: false })
}

function findOpen({ ledger }: Judged, mint: string): HolderPlan | undefined {
  return [...plans.of(ledger.state).values()].find((plan) => plan.mint === mint && !plan.isEnded)
}

function deriveParts(terms: z.output<typeof planned>, snapshot: HolderSnapshot, say: Say): readonly string[] {
  if (snapshot.mint !== terms.mint || snapshot.slot !== terms.snapshotSlot)
    say(`the snapshot is of the mint ${snapshot.mint} at slot ${snapshot.slot}`)
  const parts = derivePlan(terms, snapshot)
  const lines = parts.flat()
  if (lines.length !== terms.lines || parts.length !== terms.parts)
    say(
      `the plan has ${terms.lines} lines in ${terms.parts} parts, and the snapshot yields ${lines.length} in ${parts.length}`,
    )
  return parts.map(digestOfLines)
}

interface PaidPart {
  readonly planId: string
  readonly part: number
  readonly mint: string
  readonly payments: readonly { readonly account: string; readonly wallet: string; readonly paidBaseUnits: bigint }[]
}

/** Checks a payout against its plan, and that every payout leaves enough debt for the mint's open plan. */
export function judgePart({ planId, part, mint, payments }: PaidPart, at: Judged): void {
  const say = sayAt(at)
  const plan = plans.of(at.ledger.state).get(planId)
  if (plan !== undefined) {
    if (plan.isEnded) say(`the plan ${planId} has ended`)
    if (plan.paidParts.has(part)) say(`part ${part} of ${planId} was paid before`)
    if (part < 1 || part > plan.parts) say(`the plan ${planId} has ${plan.parts} parts, and this is part ${part}`)
    if (mint !== plan.mint || payments.some(({ account }) => account !== plan.account))
      say(`the plan ${planId} pays out of ${plan.account}`)
    const digest = digestOfLines(payments.map((paid) => ({ wallet: paid.wallet, baseUnits: paid.paidBaseUnits })))
    if (plan.derived !== undefined && plan.derived[part - 1] !== digest)
      say(`part ${part} of ${planId} does not have the lines that the snapshot yields`)
    plan.paidParts.add(part)
    plan.paidBaseUnits = payments.reduce((sum, { paidBaseUnits }) => sum + paidBaseUnits, plan.paidBaseUnits)
    if (plan.paidBaseUnits > plan.amountBaseUnits)
      say(`${plan.paidBaseUnits} were paid by a plan of ${plan.amountBaseUnits}`)
  }
  // The debt must still cover the unpaid amount of the open plan, so no other payout may use that amount.
  const open = findOpen(at, mint)
  if (open === undefined) return
  const owedBaseUnits = -at.ledger.postings.balanceOf(mint, open.account)
  const restBaseUnits = open.amountBaseUnits - open.paidBaseUnits
  if (owedBaseUnits < restBaseUnits)
    say(`${owedBaseUnits} are owed on ${open.account}, and the open plan has ${restBaseUnits} to pay`)
}

function judgeEnded({ planId, stream, mint, paidBaseUnits }: z.output<typeof ended>, at: Judged): void {
  const say = sayAt(at)
  if (stream !== `holders:${planId}`) say(`the stream is of another plan than ${planId}`)
  const plan = plans.of(at.ledger.state).get(planId)
  if (plan === undefined) return say('the plan was never recorded')
  if (plan.mint !== mint || plan.paidBaseUnits !== paidBaseUnits)
    say(`${paidBaseUnits} are called paid, and ${plan.paidBaseUnits} were`)
  plan.isEnded = true
}

function digestOfLines(lines: readonly { readonly wallet: string; readonly baseUnits: bigint }[]): string {
  const text = lines.map((line) => `${line.wallet} ${line.baseUnits}`).join('\n')
  return createHash('sha256').update(text).digest('hex')
}
