import type { Chain } from '../chain/openChain.ts'
import { signPayout } from '../chain/payoutTransaction.ts'
import type { PayoutPlan } from '../accounting/payoutPlan.ts'
import type { Address } from '@tollbook/core/address'
import { assert, assertNever, assertPresent } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { Database } from '../store/database.ts'
import {
  type PayoutAttempt,
  readAttempts,
  readOpenHolderPayout,
  recordAttempt,
  recordHolderPayout,
} from '../store/holderPayoutStore.ts'
import { findRecordedParts } from '../store/payoutStore.ts'
import { judgeAttempts } from './attemptStanding.ts'
import type { PreparedPart } from './preparePart.ts'

export interface HolderPaymentDeps {
  readonly database: Database
  readonly chain: Chain
  readonly clock: Clock
  readonly prepare: (plan: PayoutPlan, part: number, feePayer: Address) => Promise<PreparedPart>
  readonly record: (plan: PayoutPlan, signature: Signature) => Promise<unknown>
  /** Throws if the ledger lacks a payout that is on chain, or if the plan pays more than is owed. */
  readonly requirePayable: (plan: PayoutPlan) => Promise<unknown>
  /** Throws if the ledger lacks a payout of another plan that is on chain. */
  readonly requireOthersRecorded: (plan: PayoutPlan) => Promise<unknown>
  /** Throws while a transaction of another plan could still land, or is on chain and not in the ledger. */
  readonly requireNothingSent: () => Promise<void>
}

export interface HolderPaymentOrder {
  readonly plan: PayoutPlan
  readonly feePayer: Address
  /** Keys that sign: the fee payer first, then the payment wallet. */
  readonly signers: readonly { readonly secretKey: Uint8Array }[]
  readonly signal: AbortSignal
  readonly onProgress: (recorded: number, parts: number) => void
}

// A node accepts a few hundred transactions per second, and finality takes 13 s.
const openPartsMax = 64
const pollMs = 1_000
// Maximum of passes in a row without a newly recorded part. A transaction is final, or proven absent, within about
// three minutes.
const idlePassesMax = 400

/**
 * Pays the parts of a plan. Each transaction is stored before it is sent, and a part gets a new one only after the
 * previous one has failed or can no longer land. A new run can therefore continue even if the process was killed at any
 * step.
 */
export async function payHolders(deps: HolderPaymentDeps, order: HolderPaymentOrder): Promise<void> {
  const { plan } = order
  const { database, clock } = deps
  const [failed, sent] = [new Map<number, string>(), new Set<number>()]
  if (!(await begin(deps, plan))) return
  for (let idle = 0, before = -1; idle < idlePassesMax; idle++) {
    order.signal.throwIfAborted()
    const recorded = await findRecordedParts(database, plan)
    order.onProgress(recorded.size, plan.parts.length)
    if (recorded.size > before) idle = 0
    before = recorded.size
    const open = plan.parts.map((_, index) => index + 1).filter((part) => !recorded.has(part) && !failed.has(part))
    if (open.length === 0) return finish(deps, plan, failed)
    const hasChanged = await advance(deps, order, { open, failed, sent })
    if (!hasChanged) await clock.sleep(pollMs, order.signal)
  }
  throw new Fault('no part of the plan became final for some minutes; run the command again', { retryable: true })
}

/** Records the plan. False if the plan has ended and is fully paid. */
async function begin(deps: HolderPaymentDeps, plan: PayoutPlan): Promise<boolean> {
  const { database, requirePayable, requireNothingSent, clock } = deps
  const holders = assertPresent(plan.holders, 'the plan is for holders')
  const { account, amountBaseUnits } = holders
  const lines = plan.parts.flat()
  assert(
    lines.reduce((sum, { baseUnits }) => sum + baseUnits, 0n) === amountBaseUnits &&
      lines.every((line) => line.account === account && line.baseUnits > 0n),
    'the lines of a plan sum to its amount',
  )
  const recorded = await findRecordedParts(database, plan)
  if (recorded.size < plan.parts.length) await requirePayable(plan)
  const outcome = await recordHolderPayout(
    database,
    {
      kind: 'HolderPayoutPlanned',
      planId: plan.id,
      mint: plan.mint,
      rule: 'pro-rata-1',
      ...holders,
      lines: lines.length,
      parts: plan.parts.length,
    },
    { effectiveAtMs: clock.nowMs() },
  )
  if (outcome === 'plan_open')
    throw refused('another plan for holders is open: pay it first, or end it with `payout holders end`')
  if (outcome === 'more_than_owed') throw refused(`${account} is owed less than the plan pays; make a new plan`)
  const open = await readOpenHolderPayout(database, plan.mint)
  if (open?.planId === plan.id) {
    // The plan is now open, so no other plan can sign for the share. A transaction that was signed earlier may still
    // land.
    if (recorded.size < plan.parts.length) await requireNothingSent()
    return true
  }
  if (recorded.size === plan.parts.length) return false
  throw refused(`the plan ${plan.id} was ended before all of it was paid; make a new plan`)
}

interface Pass {
  readonly open: readonly number[]
  /** Parts that this run does not send again, each with the reason. */
  readonly failed: Map<number, string>
  readonly sent: Set<number>
}

/** Records final parts, and sends parts that have no live transaction. True if any part changed. */
async function advance(deps: HolderPaymentDeps, order: HolderPaymentOrder, pass: Pass): Promise<boolean> {
  const { plan } = order
  const { open, failed, sent } = pass
  const attempts = (await readAttempts(deps.database, plan.id)).filter(({ part }) => open.includes(part))
  const standings = await judgeAttempts(deps.chain, attempts)
  const known = new Map(attempts.map((attempt) => [attempt.part, attempt]))
  let [waiting, isEnded] = [0, false]
  const free: number[] = open.filter((part) => !known.has(part))
  for (const attempt of attempts) {
    const { part, signature } = attempt
    const standing = assertPresent(standings.get(signature), 'each attempt is judged')
    switch (standing.kind) {
      case 'final':
        await deps.record(plan, signature)
        isEnded = true
        break
      case 'failed':
        // Send a failed part once more in this run. If it fails again, report why.
        if (!sent.has(part)) {
          free.push(part)
          break
        }
        failed.set(part, standing.why)
        isEnded = true
        break
      case 'unproven':
        failed.set(part, standing.why)
        isEnded = true
        break
      case 'absent':
        free.push(part)
        break
      case 'unseen':
        // Send the same bytes again, because this cannot pay twice.
        await deps.chain.reader.broadcast(attempt)
        waiting += 1
        break
      case 'waiting':
        waiting += 1
        break
      default:
        assertNever(standing)
    }
  }
  const sending = free.slice(0, Math.max(0, openPartsMax - waiting))
  for (const part of sending) {
    const why = await sendPart(deps, order, { part, replaced: known.get(part)?.signature })
    if (why === undefined) sent.add(part)
    else failed.set(part, why)
  }
  return isEnded || sending.length > 0
}

interface PartToSend {
  readonly part: number
  /** Signature of the last transaction of the part, which failed or can no longer land. */
  readonly replaced: Signature | undefined
}

/**
 * Signs, records and sends a part. Returns the reason if the part cannot be paid. No line is omitted, because the audit
 * derives whole parts.
 */
async function sendPart(
  deps: HolderPaymentDeps,
  order: HolderPaymentOrder,
  { part, replaced }: PartToSend,
): Promise<string | undefined> {
  const { database, chain } = deps
  const { plan, feePayer, signers } = order
  const { payout, leftOut } = await deps.prepare(plan, part, feePayer)
  if (payout === undefined || leftOut.length > 0)
    return leftOut.map(({ wallet, why }) => (why.includes(wallet) ? why : `${wallet}: ${why}`)).join('; ')
  const { transaction: unsigned, lastValidBlockHeight } = payout
  const { signature, transaction: bytes } = signPayout(unsigned, signers)
  // Use the higher of two heights, because a single node stated the first one.
  const lastValidHeight = Math.max(lastValidBlockHeight, chain.reader.landingBound().lastValidHeight)
  const isRecorded = await recordAttempt(database, plan.id, {
    attempt: { part, signature, lastValidHeight, bytes },
    replaced,
  })
  if (!isRecorded) throw new Fault('another process pays this plan; let it finish', { retryable: false })
  await chain.reader.broadcast({ bytes })
  return undefined
}

async function finish(deps: HolderPaymentDeps, plan: PayoutPlan, failed: ReadonlyMap<number, string>): Promise<void> {
  if (failed.size === 0) return endPlan(deps, plan, await readAttempts(deps.database, plan.id))
  const reasons = [...failed].slice(0, 5).map(([part, why]) => `part ${part}: ${why}`)
  throw refused(
    `${failed.size} parts failed on chain or in a rehearsal, and all others are paid and recorded (${reasons.join('; ')}). Run the command again to send them again, or \`payout holders end\` to leave their lines owed; the next plan can leave out a wallet with --exclude`,
  )
}

/**
 * Ends a plan. Throws while an unrecorded transaction of this plan is on chain or could still land, because another
 * plan could then pay its debt again. A plan that pays more than is owed can be ended, because nothing else in its mint
 * is paid before.
 */
export async function endHolderPayout(deps: HolderPaymentDeps, plan: PayoutPlan): Promise<void> {
  const { database, chain, requireOthersRecorded } = deps
  const open = await readOpenHolderPayout(database, plan.mint)
  if (open?.planId !== plan.id) throw refused(`the plan ${plan.id} is not open`)
  await requireOthersRecorded(plan)
  const recorded = await findRecordedParts(database, plan)
  const sent = await readAttempts(database, plan.id)
  const attempts = sent.filter(({ part }) => !recorded.has(part))
  const standings = await judgeAttempts(chain, attempts)
  for (const { part, signature } of attempts) {
    const standing = assertPresent(standings.get(signature), 'each attempt is judged')
    const { kind } = standing
    if (standing.kind === 'unproven') throw refused(`part ${part}: ${standing.why}`)
    if (kind === 'final') throw refused(`part ${part} is on chain; run \`payout holders pay\` first, which records it`)
    if (kind !== 'absent' && kind !== 'failed')
      throw new Fault(`part ${part} could still land; run the command again in two minutes`, { retryable: true })
  }
  await endPlan(deps, plan, sent)
}

/**
 * Records the end of a plan. `sent` are the transactions that no longer change what the plan has paid. Another process
 * may have sent more.
 */
async function endPlan(
  { database, clock }: HolderPaymentDeps,
  plan: PayoutPlan,
  sent: readonly PayoutAttempt[],
): Promise<void> {
  const open = await readOpenHolderPayout(database, plan.mint)
  if (open?.planId !== plan.id) return
  const { id: planId, mint } = plan
  const { paidBaseUnits } = open
  const ended = { kind: 'HolderPayoutEnded', planId, mint, paidBaseUnits } as const
  const judged = sent.map(({ signature }) => signature)
  const outcome = await recordHolderPayout(database, ended, { effectiveAtMs: clock.nowMs(), judged })
  if (outcome !== 'recorded')
    throw new Fault('another process pays this plan; let it finish, and run the command again', { retryable: true })
}

function refused(message: string): Fault {
  return new Fault(message, { retryable: false })
}
