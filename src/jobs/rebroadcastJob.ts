import { assertPresent } from '@tollbook/core/assert'
import { describeError } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import type { LandingBound } from '../payment/absence.ts'
import type { ChainReader } from '../payment/chainReader.ts'
import { type FinalityReader, statusesMax } from '../payment/finalityReader.ts'
import { signatureOf, transactionReference } from '../payment/paymentReference.ts'
import { runElectedWork } from './electedWork.ts'
import type { StepDeps } from './recordStep.ts'
import { type Repeated, repeat } from './repeat.ts'

export interface RebroadcastDeps extends Pick<StepDeps, 'clock' | 'log' | 'lifecycle'> {
  readonly chain: Pick<ChainReader, 'broadcast' | 'landingBound' | 'find'> & Pick<FinalityReader, 'findStatuses'>
  /** Called with the bytes of a transaction that can no longer land. Called again until it succeeds. */
  readonly onAbsent?: (bytes: Uint8Array) => Promise<void>
}

// Interval between sends, which repeat because a leader may drop a transaction.
const everyMs = 2_000
// Up to this age a transaction can still land, so it is sent again without a check.
const landingMs = 60_000
// Age after which a payment is given up. On a stalled chain a blockhash stays valid for longer, but no caller waits
// longer than this.
const giveUpAfterMs = 10 * 60 * 1000
// Maximum of sends per run, because each send is one call. The least recently sent transactions come first, so that
// invented transactions cannot starve real ones.
const sentMax = 64
// Maximum of open payments per run: ten minutes at seven payments a second.
const openMax = 4_096

const question = { kind: 'submitted', forMsMax: giveUpAfterMs } as const

export type RebroadcastMemory = Map<Signature, Followed>

interface Followed {
  readonly bound: LandingBound
  readonly sinceMs: number
  isSettled: boolean
  sends: number
}

/**
 * Sends each submitted transaction again until it is on chain, can no longer land, or is given up, even if no caller
 * waits.
 */
export function startRebroadcastJob(deps: RebroadcastDeps): Repeated {
  const memory: RebroadcastMemory = new Map()
  return repeat(deps, {
    name: 'rebroadcast',
    everyMs,
    run: () =>
      runElectedWork(deps.lifecycle, { name: 'tollbook rebroadcast', question, run: () => rebroadcast(deps, memory) }),
  })
}

/**
 * Sends the submitted transactions that no node shows. `memory` has the landing bounds of earlier runs, so the caller
 * passes the same map to each run.
 */
export async function rebroadcast(deps: RebroadcastDeps, memory: RebroadcastMemory): Promise<void> {
  const open = await deps.lifecycle.findOpen(question, openMax)
  const signatures = open.flatMap(({ reference }) => signatureOf(reference) ?? [])
  follow(deps, memory, signatures)
  const waiting = signatures.filter((signature) => memory.get(signature)?.isSettled === false)
  const unseen: Signature[] = []
  for (let from = 0; from < waiting.length; from += statusesMax)
    unseen.push(...(await findUnseen(deps, memory, waiting.slice(from, from + statusesMax))))
  if (unseen.length === 0) return
  const sends = (signature: Signature) => memory.get(signature)?.sends ?? 0
  const leastSentFirst = unseen.toSorted((one, other) => sends(one) - sends(other))
  await sendAgain(deps, memory, leastSentFirst.slice(0, sentMax))
}

async function findUnseen(
  { chain }: RebroadcastDeps,
  memory: RebroadcastMemory,
  signatures: readonly Signature[],
): Promise<readonly Signature[]> {
  const { statuses } = await chain.findStatuses({ signatures, searchHistory: false })
  return signatures.filter((signature, index) => {
    if (statuses[index]?.isFinalized === true) settle(memory, signature)
    return statuses[index] === undefined
  })
}

function follow({ chain, clock }: RebroadcastDeps, memory: RebroadcastMemory, open: readonly Signature[]): void {
  const current = new Set(open)
  for (const signature of memory.keys()) if (!current.has(signature)) memory.delete(signature)
  for (const signature of current)
    if (!memory.has(signature))
      memory.set(signature, { bound: chain.landingBound(), sinceMs: clock.monotonicMs(), isSettled: false, sends: 0 })
}

function settle(memory: RebroadcastMemory, signature: Signature): void {
  assertPresent(memory.get(signature), 'an open transaction is followed').isSettled = true
}

async function sendAgain(
  { lifecycle, chain, clock, log, onAbsent }: RebroadcastDeps,
  memory: RebroadcastMemory,
  signatures: readonly Signature[],
): Promise<void> {
  const states = await lifecycle.loadPayments(signatures.map(transactionReference))
  for (const signature of signatures) {
    const followed = assertPresent(memory.get(signature), 'an open transaction is followed')
    const { bound, sinceMs } = followed
    followed.sends += 1
    try {
      const state = states.get(transactionReference(signature))
      if (state?.phase !== 'submitted') continue
      const isLate = clock.monotonicMs() - sinceMs > landingMs
      const finding = isLate ? await chain.find(signature, { bound }) : undefined
      const bytes = Buffer.from(state.transactionBase64, 'base64')
      if (finding === undefined || finding.kind === 'unknown') await chain.broadcast({ bytes })
      else {
        if (finding.kind === 'proven_absent') await onAbsent?.(bytes)
        settle(memory, signature)
      }
    } catch (error) {
      log.warn({ event: 'rebroadcast_failed', signature, error: describeError(error) })
    }
  }
}
