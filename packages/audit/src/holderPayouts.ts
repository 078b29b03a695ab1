import { createHash } from 'node:crypto'
import type { Findings } from './findings.ts'
import type { HolderPayoutEvent, HolderTerms } from './holderPayoutEvents.ts'
import { derivePlan, type HolderSnapshot } from './holderSnapshot.ts'
import type { Journal } from './journal.ts'
import type { OtherStreams } from './otherStreams.ts'
import type { Recorded } from './paymentRules.ts'
import type { PayoutEvent } from './payoutEvents.ts'

export interface HolderPayoutDeps {
  readonly findings: Findings
  readonly journal: Journal
  readonly streams: OtherStreams
}

/** A plan as JSON holds it: amounts as texts. */
export interface HolderPlanState {
  readonly planId: string
  readonly stream: string
  readonly mint: string
  readonly account: string
  readonly snapshotSha256: string
  readonly amount: string
  readonly parts: number
  paid: string
  /** Numbers of the parts that were paid. */
  readonly paidParts: number[]
  isEnded: boolean
  /** Digest of each part, as the snapshot yields it. Undefined without the snapshot. */
  readonly derived?: readonly string[]
}

/** Plans for holders: one of a mint at a time, no part twice, and each line as the snapshot yields it. */
export class HolderPayouts {
  readonly #deps: HolderPayoutDeps
  readonly #plans: Map<string, HolderPlanState>
  /** Snapshots that the auditor has, by digest. */
  snapshots: ReadonlyMap<string, HolderSnapshot> = new Map()

  constructor(deps: HolderPayoutDeps, state: readonly HolderPlanState[] = []) {
    this.#deps = deps
    this.#plans = new Map(state.map((plan) => [plan.planId, { ...plan, paidParts: [...plan.paidParts] }]))
  }

  state(): readonly HolderPlanState[] {
    return [...this.#plans.values()]
  }

  /** Number of plans that were derived again, and of those whose snapshot is missing. */
  figures(): { readonly derived: number; readonly underived: number } {
    const derived = this.state().filter((plan) => plan.derived !== undefined).length
    return { derived, underived: this.#plans.size - derived }
  }

  judge(event: HolderPayoutEvent, recorded: Recorded): void {
    const { stream, planId } = event
    const isPlan = event.kind === 'HolderPayoutPlanned'
    const step = isPlan ? { from: '', to: 'planned' } : { from: 'planned', to: 'ended' }
    this.#deps.streams.advance(event, recorded, { kind: 'holder_payout', ...step })
    if (stream !== `holders:${planId}`) this.#blame(recorded, stream, `the stream is of another plan than ${planId}`)
    if (isPlan) this.#plan(event, recorded)
    else this.#end(event, recorded)
  }

  #plan(event: HolderPayoutEvent & HolderTerms, recorded: Recorded): void {
    const { planId, stream, mint, account, amountBaseUnits, snapshotSha256, parts } = event
    const blame = (message: string): void => this.#blame(recorded, stream, message)
    const open = this.state().find((plan) => plan.mint === mint && !plan.isEnded)
    if (open !== undefined) blame(`the plan ${open.planId} has not ended`)
    if (!/^Liabilities:Share:[a-z]/.test(account)) blame(`${account} is not a share`)
    const owed = -(this.#deps.journal.account(mint, account)?.balanceBaseUnits ?? 0n)
    if (amountBaseUnits > owed || amountBaseUnits === 0n)
      blame(`${amountBaseUnits} are planned of ${owed} that are owed`)
    const plan = { planId, stream, mint, account, snapshotSha256, parts, amount: amountBaseUnits.toString() }
    const snapshot = this.snapshots.get(snapshotSha256)
    const derived = snapshot === undefined ? undefined : this.#derive(event, snapshot, blame)
    const start = { paid: '0', paidParts: [], isEnded: false, ...(derived === undefined ? {} : { derived }) }
    this.#plans.set(planId, { ...plan, ...start })
  }

  #derive(
    terms: HolderPayoutEvent & HolderTerms,
    snapshot: HolderSnapshot,
    blame: (message: string) => void,
  ): readonly string[] {
    if (snapshot.mint !== terms.mint || snapshot.slot !== terms.snapshotSlot)
      blame(`the snapshot is of the mint ${snapshot.mint} at slot ${snapshot.slot}`)
    const parts = derivePlan(terms, snapshot)
    const lines = parts.flat()
    if (lines.length !== terms.lines || parts.length !== terms.parts)
      blame(
        `the plan has ${terms.lines} lines in ${terms.parts} parts, and the snapshot yields ${lines.length} in ${parts.length}`,
      )
    return parts.map(digestOfLines)
  }

  /** After the rules of every payout. */
  judgePart({ stream, planId, part, mint, payments }: PayoutEvent, recorded: Recorded): void {
    const blame = (message: string): void => this.#blame(recorded, stream, message)
    const plan = this.#plans.get(planId)
    if (plan !== undefined) {
      if (plan.isEnded) blame(`the plan ${planId} has ended`)
      if (plan.paidParts.includes(part)) blame(`part ${part} of ${planId} was paid before`)
      if (part > plan.parts) blame(`the plan ${planId} has ${plan.parts} parts, and this is part ${part}`)
      if (mint !== plan.mint || payments.some(({ account }) => account !== plan.account))
        blame(`the plan ${planId} pays out of ${plan.account}`)
      const digest = digestOfLines(payments.map((paid) => ({ wallet: paid.wallet, baseUnits: paid.paidBaseUnits })))
      if (plan.derived !== undefined && plan.derived[part - 1] !== digest)
        blame(`part ${part} of ${planId} does not have the lines that the snapshot yields`)
      plan.paidParts.push(part)
      plan.paid = payments.reduce((sum, { paidBaseUnits }) => sum + paidBaseUnits, BigInt(plan.paid)).toString()
      if (BigInt(plan.paid) > BigInt(plan.amount)) blame(`${plan.paid} were paid by a plan of ${plan.amount}`)
    }
    this.#expectCover(mint, blame)
  }

  /** No other payout takes the amount that an open plan has still to pay. */
  #expectCover(mint: string, blame: (message: string) => void): void {
    const open = this.state().find((plan) => plan.mint === mint && !plan.isEnded)
    if (open === undefined) return
    const owed = -(this.#deps.journal.account(mint, open.account)?.balanceBaseUnits ?? 0n)
    const rest = BigInt(open.amount) - BigInt(open.paid)
    if (owed < rest) blame(`${owed} are owed on ${open.account}, and the open plan has ${rest} to pay`)
  }

  #end(event: HolderPayoutEvent & { readonly paidBaseUnits: bigint }, recorded: Recorded): void {
    const plan = this.#plans.get(event.planId)
    if (plan === undefined) return this.#blame(recorded, event.stream, 'the plan was never recorded')
    if (plan.mint !== event.mint || plan.paid !== event.paidBaseUnits.toString())
      this.#blame(recorded, event.stream, `${event.paidBaseUnits} are called paid, and ${plan.paid} were`)
    plan.isEnded = true
  }

  #blame({ position }: Recorded, subject: string, message: string): void {
    this.#deps.findings.add('holder_payout_differs', { position, subject, message })
  }
}

function digestOfLines(lines: readonly { readonly wallet: string; readonly baseUnits: bigint }[]): string {
  const text = lines.map(({ wallet, baseUnits }) => `${wallet} ${baseUnits}`).join('\n')
  return createHash('sha256').update(text).digest('hex')
}
