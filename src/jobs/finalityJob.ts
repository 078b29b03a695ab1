import { assertPresent } from '@tollbook/core/assert'
import type { ChainReader } from '../payment/chainReader.ts'
import { decideFinality, type FinalVerdict } from '../payment/finality.ts'
import { type FinalityReader, type SignatureStatus, statusesMax } from '../payment/finalityReader.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { OpenPayment } from '../payment/paymentLifecycle.ts'
import { signatureOf, solanaReference } from '../payment/paymentReference.ts'
import { isRefusal } from '@tollbook/core/refusal'
import type { SettlementEvidence } from '../payment/settlement.ts'
import type { Signature } from '@tollbook/core/signature'
import { recordStep, type StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface FinalityJob extends Repeated {
  /** Undefined while payments become final as they should. No caller is refused because of it. */
  problem(): string | undefined
}

export interface FinalityDeps extends StepDeps {
  readonly chain: FinalityReader & Pick<ChainReader, 'readTransaction' | 'canStillLand'>
}

// Finality takes some 13 s; asked so often it is on record a moment later.
const everyMs = 2_000
// Ten thousand payments a round: what waits longer than its round is asked for in the next.
const pagesMax = 40
// A blockhash is good for 150 blocks and slots may be skipped; this many slots later nothing can land any more, and the
// blockhash itself is asked for besides.
const landingSlotsMax = 300
// Two looks that far apart, each at the finalized chain: one node that was behind, or restarted, cannot reverse a payment.
const absenceApartMs = 10_000
// Absences are judged one by one, with four questions each. More at once is an outage and not a fork.
const absencesMax = 64
const lateMs = 5 * 60 * 1000
const alarmMs = 60 * 60 * 1000

/** State of one job from round to round. */
export interface FinalityMemory {
  /** When a payment was first found to be absent for good. */
  readonly absentSinceMs: Map<Signature, number>
  oldestAwaitingMs: number | undefined
  lastReversalMs: number | undefined
}

export function noFinalityMemory(): FinalityMemory {
  return { absentSinceMs: new Map(), oldestAwaitingMs: undefined, lastReversalMs: undefined }
}

/** Follows each verified payment until the chain can no longer drop it, or has. One instance at a time does. */
export function startFinalityJob(deps: FinalityDeps): FinalityJob {
  const memory = noFinalityMemory()
  const task = repeat(deps, {
    name: 'finality',
    everyMs,
    run: () => deps.lifecycle.runElected('tollbook finality', () => recordFinality(deps, memory)),
  })
  return { problem: () => problemOf(deps, memory), stop: () => task.stop() }
}

function problemOf({ clock }: FinalityDeps, { oldestAwaitingMs, lastReversalMs }: FinalityMemory): string | undefined {
  const nowMs = clock.nowMs()
  if (lastReversalMs !== undefined && nowMs - lastReversalMs < alarmMs)
    return 'the chain has dropped a payment in the last hour; look for payment_reversed in the log'
  const waitingMs = nowMs - (oldestAwaitingMs ?? nowMs)
  return waitingMs > lateMs
    ? `a payment has been waiting for finality for ${Math.round(waitingMs / 1000)} s`
    : undefined
}

/** One round: every payment that awaits finality is asked for once. */
export async function recordFinality(deps: FinalityDeps, memory: FinalityMemory): Promise<void> {
  let after: OpenPayment | undefined
  memory.oldestAwaitingMs = undefined
  for (let page = 0; page < pagesMax; page++) {
    const open = await deps.lifecycle.findOpen({ kind: 'awaiting_finality', after }, statusesMax)
    memory.oldestAwaitingMs ??= open[0]?.createdAtMs
    if (open.length > 0)
      await judgePage(
        deps,
        memory,
        open.flatMap(({ reference }) => signatureOf(reference) ?? []),
      )
    after = open.at(-1)
    if (open.length < statusesMax) return
  }
}

async function judgePage(deps: FinalityDeps, memory: FinalityMemory, signatures: readonly Signature[]): Promise<void> {
  const statuses = await askStatuses(deps, signatures)
  const settled = signatures.filter((signature) => statuses.get(signature)?.isFinalized === true)
  const absent = signatures.filter((signature) => !statuses.has(signature)).slice(0, absencesMax)
  for (const signature of statuses.keys()) memory.absentSinceMs.delete(signature)
  const states = await deps.lifecycle.loadPayments([...settled, ...absent].map(solanaReference))
  const stateOf = (signature: Signature) =>
    assertPresent(states.get(solanaReference(signature)), 'an open payment has events')
  // At once, so that they share a commit.
  await Promise.all(
    settled.map((signature) => {
      const status = assertPresent(statuses.get(signature), 'what is settled has a status')
      return conclude(deps, memory, { signature, before: stateOf(signature), verdict: verdictOf(status) })
    }),
  )
  for (const signature of absent) await judgeAbsence(deps, memory, { signature, before: stateOf(signature) })
}

/** From the node's memory, and for those that are not there from its disk. */
async function askStatuses({ chain }: FinalityDeps, signatures: readonly Signature[]) {
  const found = new Map<Signature, SignatureStatus>()
  for (const searchHistory of [false, true]) {
    const missing = signatures.filter((signature) => !found.has(signature))
    if (missing.length === 0) break
    const { statuses } = await chain.findStatuses({ signatures: missing, searchHistory })
    for (const [index, signature] of missing.entries()) {
      const status = statuses[index]
      if (status !== undefined) found.set(signature, status)
    }
  }
  return found
}

function verdictOf({ slot, hasFailed }: SignatureStatus): FinalVerdict {
  // It succeeded on the fork that we saw, and failed on the one that stayed.
  return hasFailed ? { kind: 'reversed', reason: 'failed', finalizedSlot: slot } : { kind: 'finalized', slot }
}

interface Judged {
  readonly signature: Signature
  readonly before: PaymentState
}

async function judgeAbsence(deps: FinalityDeps, memory: FinalityMemory, judged: Judged): Promise<void> {
  const { signature, before } = judged
  if (before.phase !== 'released' && before.phase !== 'fulfilled' && before.phase !== 'exhausted') return
  const finalizedSlot = await findAbsence(deps, signature, before.settlement.evidence)
  if (finalizedSlot === undefined) {
    memory.absentSinceMs.delete(signature)
    return
  }
  const nowMs = deps.clock.monotonicMs()
  const sinceMs = memory.absentSinceMs.get(signature)
  if (sinceMs === undefined) memory.absentSinceMs.set(signature, nowMs)
  if (sinceMs === undefined || nowMs - sinceMs < absenceApartMs) return
  memory.absentSinceMs.delete(signature)
  await conclude(deps, memory, { ...judged, verdict: { kind: 'reversed', reason: 'absent', finalizedSlot } })
}

/**
 * Height of the finalized chain at which the payment was absent and could no longer land. Undefined if that is
 * uncertain:
 * it may still land, the node has pruned those blocks, or the chain has it.
 */
async function findAbsence(
  { chain }: FinalityDeps,
  signature: Signature,
  evidence: SettlementEvidence,
): Promise<number | undefined> {
  const { slot } = evidence
  const finalizedSlot = await chain.finalizedSlot()
  if (finalizedSlot < slot + landingSlotsMax) return undefined
  if ((await chain.firstSlot()) > slot) return undefined
  if (await canStillLand(chain, evidence)) return undefined
  if ((await chain.findFinalized(signature)) !== undefined) return undefined
  // The node that says so must itself be past the payment; another one may have answered before.
  const { slot: nodeSlot, statuses } = await chain.findStatuses({ signatures: [signature], searchHistory: true })
  return statuses[0] === undefined && nodeSlot >= slot + landingSlotsMax ? finalizedSlot : undefined
}

async function canStillLand(chain: FinalityDeps['chain'], { transactionBase64 }: SettlementEvidence): Promise<boolean> {
  if (transactionBase64 === undefined) return false
  const transaction = chain.readTransaction(Buffer.from(transactionBase64, 'base64'))
  return isRefusal(transaction) ? false : chain.canStillLand(transaction)
}

async function conclude(
  deps: FinalityDeps,
  memory: FinalityMemory,
  { signature, before, verdict }: Judged & { readonly verdict: FinalVerdict },
): Promise<void> {
  const decision = decideFinality(before, verdict)
  const reference = solanaReference(signature)
  const isRecorded = await recordStep(deps, { kind: verdict.kind, reference, before, decision })
  if (!isRecorded || verdict.kind !== 'reversed') return
  memory.lastReversalMs = deps.clock.nowMs()
  deps.log.error({ event: 'payment_reversed', signature, phase: before.phase, ...verdict })
}
