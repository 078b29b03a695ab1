import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import { statusesMax } from '../payment/finalityReader.ts'
import type { Commitment } from './commitment.ts'
import type { ChainNode } from './chainNode.ts'
import type { RotationDeps } from './rpcClient.ts'
import { type NodeStatuses, readStatuses } from './signatureStatuses.ts'

/**
 * One loop for all payments that this process waits for: their statuses in batches, at the pace of slots. A question
 * about one payment carries all the others with it.
 */
export interface ConfirmationLoop {
  watch(watched: Watched): Promise<Sighting>
}

export interface Watched {
  readonly signature: Signature
  readonly waitMs: number
  readonly commitment: Commitment
  /** Sent by this service, or seen by a node: it may land in any slot, so each slot is asked for it. */
  readonly isExpected: boolean
}

export type Sighting =
  /** This node has it at the commitment. */
  | { readonly kind: 'landed'; readonly node: ChainNode; readonly slot: number }
  /** A node has it in a block that is not at the commitment yet. */
  | { readonly kind: 'young'; readonly slot: number }
  /** No node in rotation has it, in a state of this slot or a later one. */
  | { readonly kind: 'unseen'; readonly slot: number }

export interface LoopDeps extends RotationDeps {
  readonly clock: Clock
}

interface Waiter extends Watched {
  readonly deadlineMs: number
  /** When one that no node has seen is looked for; it is not waited for any longer. */
  readonly lookAtMs: number
  readonly settle: (sighting: Sighting) => void
  readonly fail: (error: unknown) => void
  isExpected: boolean
}

// Every node is asked at this many looks; in between, the preferred one only.
const looksPerRound = 4
// A transaction that was sent a moment ago is seen by then. One that was never sent costs one look and no more.
const unseenWaitMs = 1_000

export function createConfirmationLoop(deps: LoopDeps): ConfirmationLoop {
  const { clock, nodes } = deps
  const waiting = new Set<Waiter>()
  let isRunning = false
  let looks = 0

  async function run(): Promise<void> {
    try {
      // A turn of the event loop first, so that what is asked at the same moment shares the first look.
      await Promise.resolve()
      while (waiting.size > 0) {
        const nowMs = clock.monotonicMs()
        if ([...waiting].some((waiter) => isDue(waiter, nowMs))) await look(nowMs)
        if (waiting.size > 0) await clock.sleep(pauseMs())
      }
    } finally {
      isRunning = false
    }
  }

  function pauseMs(): number {
    const nowMs = clock.monotonicMs()
    const nextMs = Math.min(...[...waiting].map((waiter) => (waiter.isExpected ? waiter.deadlineMs : waiter.lookAtMs)))
    return Math.max(1, Math.min(nodes.slotMs(), nextMs - nowMs))
  }

  async function look(nowMs: number): Promise<void> {
    looks += 1
    const all = [...waiting]
    for (let from = 0; from < all.length; from += statusesMax) {
      const batch = all.slice(from, from + statusesMax)
      const isLast = batch.some((waiter) => isOverdue(waiter, nowMs))
      const rotation = nodes.inRotation()
      const asked = isLast || looks % looksPerRound === 0 ? rotation : rotation.slice(0, 1)
      // History for all but what was sent a moment ago.
      const searchHistory = batch.some((waiter) => !waiter.isExpected || isOverdue(waiter, nowMs))
      const answers = await askAll(asked, batch, searchHistory)
      for (const [index, waiter] of batch.entries()) {
        const sighting = judge(waiter, { answers, index })
        conclude(waiter, sighting, isLast && isOverdue(waiter, nowMs))
      }
    }
  }

  async function askAll(
    asked: readonly ChainNode[],
    batch: readonly Waiter[],
    searchHistory: boolean,
  ): Promise<readonly NodeStatuses[]> {
    const signatures = batch.map(({ signature }) => signature)
    const results = await Promise.allSettled(
      asked.map((node) => readStatuses(deps, node, { signatures, searchHistory })),
    )
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  }

  function conclude(waiter: Waiter, sighting: Sighting | undefined, isOver: boolean): void {
    if (sighting?.kind === 'young') waiter.isExpected = true
    const waits = sighting?.kind === 'young' && waiter.deadlineMs > clock.monotonicMs()
    if (sighting?.kind !== 'landed' && (!isOver || waits)) return
    waiting.delete(waiter)
    if (sighting !== undefined) waiter.settle(sighting)
    else waiter.fail(new Fault('no Solana node in rotation answered getSignatureStatuses', { retryable: true }))
  }

  return {
    watch(watched) {
      return new Promise((settle, fail) => {
        const nowMs = clock.monotonicMs()
        const { waitMs } = watched
        const lookAtMs = nowMs + Math.min(waitMs, unseenWaitMs)
        waiting.add({ ...watched, deadlineMs: nowMs + waitMs, lookAtMs, settle, fail })
        if (isRunning) return
        isRunning = true
        void run()
      })
    },
  }
}

function isDue(waiter: Waiter, nowMs: number): boolean {
  return waiter.isExpected || waiter.lookAtMs <= nowMs
}

function isOverdue({ isExpected, deadlineMs, lookAtMs }: Waiter, nowMs: number): boolean {
  return nowMs >= (isExpected ? deadlineMs : lookAtMs)
}

interface Look {
  readonly answers: readonly NodeStatuses[]
  readonly index: number
}

/** Undefined when no node has answered. */
function judge({ commitment }: Watched, { answers, index }: Look): Sighting | undefined {
  if (answers.length === 0) return undefined
  for (const { node, statuses } of answers) {
    const status = statuses[index]
    if (status !== undefined && reaches(status.commitment, commitment))
      return { kind: 'landed', node, slot: status.slot }
  }
  const slot = Math.min(...answers.map((answer) => answer.slot))
  const isYoung = answers.some(({ statuses }) => statuses[index] !== undefined)
  return { kind: isYoung ? 'young' : 'unseen', slot }
}

const ranks = { processed: 0, confirmed: 1, finalized: 2 } as const

function reaches(has: keyof typeof ranks, wanted: Commitment): boolean {
  return ranks[has] >= ranks[wanted]
}
