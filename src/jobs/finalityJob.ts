import { assertPresent } from '@tollbook/core/assert'
import type { ChainReader } from '../payment/chainReader.ts'
import { decideFinality, type FinalVerdict } from '../payment/finality.ts'
import { type FinalityReader, type Reversal, type SignatureStatus, statusesMax } from '../payment/finalityReader.ts'
import type { PaymentState } from '../payment/payment.ts'
import type { OpenPayment } from '../payment/paymentLifecycle.ts'
import { signatureOf, transactionReference } from '../payment/paymentReference.ts'
import { isRefusal } from '@tollbook/core/refusal'
import { paysAsSettled, type PaymentTerms, type Settlement } from '../payment/settlement.ts'
import type { TabLedger } from '../payment/tabLedger.ts'
import type { Signature } from '@tollbook/core/signature'
import type { TransactionRecord } from '../payment/transactionRecord.ts'
import { runElectedWork } from './electedWork.ts'
import { recordStep, type StepDeps } from './recordStep.ts'
import { repeat } from './repeat.ts'
import type { Watch } from './watch.ts'

export interface FinalityDeps extends StepDeps {
  readonly tabs: Pick<TabLedger, 'close'>
  readonly chain: FinalityReader & Pick<ChainReader, 'readTransaction'>
  readonly allTerms: () => readonly PaymentTerms[]
}

// Interval between runs. A payment is final after about 13 s.
const everyMs = 2_000
// Maximum of pages per run, about ten thousand payments. The next run continues.
const pagesMax = 40
// Time between two checks for an absent payment, so that nodes that lag or restart cannot reverse a payment.
const absenceApartMs = 10_000
// Maximum of absences that one run checks. Each check takes several requests to each node. A fork has fewer absences,
// so more absences indicate an outage.
const absencesMax = 64
// Maximum of failures per page. A payment that no node can judge must not block other payments, but this many failures
// mean that the nodes are at fault.
const failuresMax = 4
const lateMs = 5 * 60 * 1000
const alarmMs = 60 * 60 * 1000

export interface FinalityMemory {
  readonly absentSinceMs: Map<Signature, number>
  /** Number of checks of each doubtful payment, so that the least checked payments come first. */
  readonly looks: Map<Signature, number>
  oldestAwaitingMs: number | undefined
  lastReversalMs: number | undefined
}

export function noFinalityMemory(): FinalityMemory {
  return { absentSinceMs: new Map(), looks: new Map(), oldestAwaitingMs: undefined, lastReversalMs: undefined }
}

/** Follows each verified payment until it is final or the chain has dropped it. Only one instance works at a time. */
export function startFinalityJob(deps: FinalityDeps): Watch {
  const memory = noFinalityMemory()
  const task = repeat(deps, {
    name: 'finality',
    everyMs,
    run() {
      memory.oldestAwaitingMs = undefined
      return runElectedWork(deps.lifecycle, {
        name: 'tollbook finality',
        question: { kind: 'awaiting_finality' },
        run: () => recordFinality(deps, memory),
      })
    },
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

/**
 * Records the finality of open payments. The failure of a payment does not stop the run. The first failure is thrown at
 * the end, so that the other payments are recorded first.
 */
export async function recordFinality(deps: FinalityDeps, memory: FinalityMemory): Promise<void> {
  let after: OpenPayment | undefined
  const failures: unknown[] = []
  memory.oldestAwaitingMs = undefined
  for (let page = 0; page < pagesMax; page++) {
    const open = await deps.lifecycle.findOpen({ kind: 'awaiting_finality', after }, statusesMax)
    memory.oldestAwaitingMs ??= open[0]?.createdAtMs
    const signatures = open.flatMap(({ reference }) => signatureOf(reference) ?? [])
    if (signatures.length > 0) failures.push(...(await judgePage(deps, memory, signatures)))
    after = open.at(-1)
    if (open.length < statusesMax) break
  }
  if (failures.length > 0) throw failures[0]
}

/** Judges the payments of a page. Returns the failures, so that a payment that fails does not stop the others. */
async function judgePage(
  deps: FinalityDeps,
  memory: FinalityMemory,
  signatures: readonly Signature[],
): Promise<readonly unknown[]> {
  const statuses = await askStatuses(deps, signatures)
  const final = signatures.flatMap((signature) => {
    const status = statuses.get(signature)
    return status?.isFinalized === true && !status.hasFailed ? [{ signature, slot: status.slot }] : []
  })
  // True if the payment is absent, or if it failed on the finalized chain after it had succeeded on a fork that was
  // recorded.
  const isDoubtful = (status: SignatureStatus | undefined) =>
    status === undefined || (status.isFinalized && status.hasFailed)
  const doubtful = signatures.filter((signature) => isDoubtful(statuses.get(signature)))
  for (const signature of statuses.keys()) if (!doubtful.includes(signature)) forget(memory, signature)
  const looked = (signature: Signature) => memory.looks.get(signature) ?? 0
  const leastLookedAt = doubtful.toSorted((one, other) => looked(one) - looked(other)).slice(0, absencesMax)
  const open = [...final.map(({ signature }) => signature), ...leastLookedAt]
  const states = await deps.lifecycle.loadPayments(open.map(transactionReference))
  const stateOf = (signature: Signature) =>
    assertPresent(states.get(transactionReference(signature)), 'an open payment has events')
  // Record all final payments at the same time, so that they share a commit.
  const recorded = await Promise.allSettled(
    final.map(async ({ signature, slot }) => judgeFinal(deps, memory, { signature, before: stateOf(signature), slot })),
  )
  const failures = recorded.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []))
  for (const signature of leastLookedAt) {
    if (failures.length >= failuresMax) break
    memory.looks.set(signature, looked(signature) + 1)
    try {
      await judgeDoubtful(deps, memory, { signature, before: stateOf(signature) })
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}

function forget({ absentSinceMs, looks }: FinalityMemory, signature: Signature): void {
  absentSinceMs.delete(signature)
  looks.delete(signature)
}

/** Reads the statuses from the node's memory first, then from its disk for signatures that memory does not have. */
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

interface Judged {
  readonly signature: Signature
  readonly before: PaymentState
}

/**
 * Judges a payment that the finalized chain contains. A fork can change the effect of a transaction, because programs
 * and lookup tables depend on their block. If the payment landed in another block, it is final if it pays the same
 * amounts. The payment is reversed if the nodes agree that it does not pay them.
 */
async function judgeFinal(
  deps: FinalityDeps,
  memory: FinalityMemory,
  { slot, ...judged }: Judged & { readonly slot: number },
): Promise<void> {
  const { signature, before } = judged
  const settlement = settlementAtRest(before)
  if (settlement !== undefined && settlement.evidence.slot !== slot) {
    const record = await deps.chain.findFinalized(signature)
    const isPaid = record !== undefined && isPaidBy(deps, settlement)(record)
    if (!isPaid) return judgeDoubtful(deps, memory, judged)
  }
  await conclude(deps, memory, { ...judged, verdict: { kind: 'finalized', slot } })
}

function settlementAtRest(state: PaymentState): Settlement | undefined {
  const { phase } = state
  return phase === 'released' || phase === 'fulfilled' || phase === 'exhausted' ? state.settlement : undefined
}

function isPaidBy({ allTerms }: FinalityDeps, settlement: Settlement) {
  return (record: TransactionRecord) => paysAsSettled(record, settlement, allTerms())
}

async function judgeDoubtful(deps: FinalityDeps, memory: FinalityMemory, judged: Judged): Promise<void> {
  const { signature, before } = judged
  const settlement = settlementAtRest(before)
  if (settlement === undefined) return
  const reversal = await findReversal(deps, signature, settlement)
  if (reversal === undefined) {
    memory.absentSinceMs.delete(signature)
    return
  }
  const nowMs = deps.clock.monotonicMs()
  const sinceMs = memory.absentSinceMs.get(signature) ?? nowMs
  memory.absentSinceMs.set(signature, sinceMs)
  // Check an absence twice, because it is only a missing record. A failure is a record on the finalized chain and needs
  // one check.
  if (reversal.reason === 'absent' && nowMs - sinceMs < absenceApartMs) return
  forget(memory, signature)
  const { reason, finalizedSlot } = reversal
  await conclude(deps, memory, { ...judged, verdict: { kind: 'reversed', reason, finalizedSlot } })
}

function findReversal(deps: FinalityDeps, signature: Signature, settlement: Settlement): Promise<Reversal | undefined> {
  const { chain } = deps
  const { slot, transactionBase64 } = settlement.evidence
  const bytes = transactionBase64 === undefined ? undefined : Buffer.from(transactionBase64, 'base64')
  const read = bytes === undefined ? undefined : chain.readTransaction(bytes)
  const transaction = read === undefined || isRefusal(read) ? undefined : read
  return chain.findReversal({ signature, slot, transaction, isPaidBy: isPaidBy(deps, settlement) })
}

/**
 * Closes the tab of a dropped deposit first, so that neither its balance nor later returned holds can be spent. Returns
 * the verdict with the prepaid amount.
 */
async function withPrepaid(
  { lifecycle, tabs, clock }: FinalityDeps,
  before: PaymentState,
  verdict: FinalVerdict,
): Promise<FinalVerdict> {
  if (verdict.kind !== 'reversed' || !('tab' in before) || before.tab === undefined) return verdict
  await tabs.close(before.tab, 'reversal', clock.nowMs())
  return { ...verdict, prepaidBaseUnits: await lifecycle.prepaidBaseUnits(before.tab, before.settlement.price.mint) }
}

async function conclude(
  deps: FinalityDeps,
  memory: FinalityMemory,
  { signature, before, verdict }: Judged & { readonly verdict: FinalVerdict },
): Promise<void> {
  const decision = decideFinality(before, await withPrepaid(deps, before, verdict))
  const reference = transactionReference(signature)
  const isRecorded = await recordStep(deps, { kind: verdict.kind, reference, before, decision })
  if (!isRecorded || verdict.kind !== 'reversed') return
  memory.lastReversalMs = deps.clock.nowMs()
  deps.log.error({ event: 'payment_reversed', signature, phase: before.phase, ...verdict })
}
