import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import type { Signature } from '@tollbook/core/signature'
import { statusesMax } from '../payment/finalityReader.ts'
import type { Commitment } from './commitment.ts'
import type { ChainNode } from './chainNode.ts'
import type { RotationDeps } from './rpcClient.ts'
import { type NodeStatuses, readStatuses, type StatusQuery } from './signatureStatuses.ts'

/** Requests that wait for payments share queries. */
export interface ConfirmationLoop {
  watch(watched: Watched): Promise<Sighting>
}

export interface Watched {
  readonly signature: Signature
  readonly waitMs: number
  readonly commitment: Commitment
  /**
   * True if this service sent the transaction or a node has seen it. The transaction may then land in any slot, so
   * every slot is queried.
   */
  readonly isExpected: boolean
}

export type Sighting =
  /** `node` has the transaction at the required commitment. */
  | { readonly kind: 'landed'; readonly node: ChainNode; readonly slot: number }
  /** A node has the transaction in a block below the required commitment. */
  | { readonly kind: 'young'; readonly slot: number }
  /** No node that answered has the transaction up to this slot. `nodes` is the number of these nodes. */
  | { readonly kind: 'unseen'; readonly slot: number; readonly nodes: number }

export interface LoopDeps extends RotationDeps {
  readonly clock: Clock
}

interface Waiter extends Watched {
  readonly deadlineMs: number
  /**
   * Time of the first query. If no node has the transaction at that time, the wait ends, unless the transaction is
   * expected.
   */
  readonly firstMs: number
  readonly settle: (sighting: Sighting) => void
  readonly fail: (error: unknown) => void
  isExpected: boolean
}

interface Running extends LoopDeps {
  readonly waiting: Set<Waiter>
  isRunning: boolean
  queries: number
}

// Every fourth query asks all nodes, and so does the last query of a wait. The others ask only the preferred node.
const allNodesEvery = 4
// Wait before the first query of a presented signature. A node has seen a transaction that was just sent within this
// time, so an invented signature costs one query.
const unseenWaitMs = 1_000

/** The loop runs only while a request waits. `watch` rejects with a retryable `Fault` if no node answers. */
export function createConfirmationLoop(deps: LoopDeps): ConfirmationLoop {
  const open = (): Running => ({ ...deps, waiting: new Set(), isRunning: false, queries: 0 })
  // Sent and presented payments have separate loops: anyone can present an invented proof, and its last query waits for
  // every node.
  const [sent, presented] = [open(), open()]
  return { watch: (watched) => join(watched.isExpected ? sent : presented, watched) }
}

function join(loop: Running, watched: Watched): Promise<Sighting> {
  return new Promise((settle, fail) => {
    loop.waiting.add({ ...watched, ...timesOf(loop, watched), settle, fail })
    if (loop.isRunning) return
    loop.isRunning = true
    void run(loop)
  })
}

function timesOf({ clock, nodes }: LoopDeps, { waitMs, isExpected }: Watched) {
  const nowMs = clock.monotonicMs()
  return {
    deadlineMs: nowMs + waitMs,
    firstMs: nowMs + Math.min(waitMs, isExpected ? nodes.slotMs() : unseenWaitMs),
  }
}

async function run(loop: Running): Promise<void> {
  const { clock, waiting } = loop
  try {
    // Wait one turn of the event loop, so that simultaneous requests share the first query.
    await Promise.resolve()
    while (waiting.size > 0) {
      const nowMs = clock.monotonicMs()
      if ([...waiting].some(({ firstMs }) => firstMs <= nowMs)) await ask(loop, nowMs)
      if (waiting.size > 0) await clock.sleep(pauseMs(loop))
    }
  } finally {
    loop.isRunning = false
  }
}

/**
 * Returns the time to the next query. It is at most the duration of one slot, because a request that joins may be due
 * after one slot.
 */
function pauseMs({ clock, nodes, waiting }: Running): number {
  const nowMs = clock.monotonicMs()
  const nextMs = [...waiting].map(({ firstMs, deadlineMs }) => (firstMs > nowMs ? firstMs : deadlineMs))
  return Math.max(1, Math.min(nodes.slotMs(), ...nextMs.map((each) => each - nowMs)))
}

async function ask(loop: Running, nowMs: number): Promise<void> {
  const { nodes, waiting } = loop
  loop.queries += 1
  await nodes.readmit()
  const all = [...waiting]
  for (let from = 0; from < all.length; from += statusesMax) {
    const batch = all.slice(from, from + statusesMax)
    const isLast = batch.some((waiter) => isOverdue(waiter, nowMs))
    const rotation = nodes.inRotation()
    // Search the history too, unless the whole batch was sent a moment ago.
    const searchHistory = batch.some((waiter) => !waiter.isExpected || isOverdue(waiter, nowMs))
    const question = { batch, query: { signatures: batch.map(({ signature }) => signature), searchHistory } }
    if (isLast) await askNodes(loop, rotation, { ...question, endsAtMs: nowMs })
    else {
      // Do not await this call, because the slowest node would delay every payment.
      if (loop.queries % allNodesEvery === 0) void askNodes(loop, rotation.slice(1), question)
      await askNodes(loop, rotation.slice(0, 1), question)
    }
  }
}

interface Asked {
  readonly batch: readonly Waiter[]
  readonly query: StatusQuery
  /** The waits that are overdue at this time end, with the answers that are available. Absent: no wait ends. */
  readonly endsAtMs?: number
}

async function askNodes(
  loop: Running,
  nodes: readonly ChainNode[],
  { batch, query, endsAtMs = Number.NEGATIVE_INFINITY }: Asked,
): Promise<void> {
  const answers = await askAll(loop, nodes, query)
  for (const [index, waiter] of batch.entries())
    conclude(loop, waiter, { sighting: judge(waiter, answers, index), isOver: isOverdue(waiter, endsAtMs) })
}

async function askAll(
  deps: RotationDeps,
  asked: readonly ChainNode[],
  query: StatusQuery,
): Promise<readonly NodeStatuses[]> {
  const results = await Promise.allSettled(asked.map((node) => readStatuses(deps, node, query)))
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}

interface Conclusion {
  readonly sighting: Sighting | undefined
  readonly isOver: boolean
}

function conclude({ clock, waiting }: Running, waiter: Waiter, { sighting, isOver }: Conclusion): void {
  if (sighting?.kind === 'young') waiter.isExpected = true
  const waits = sighting?.kind === 'young' && waiter.deadlineMs > clock.monotonicMs()
  if (sighting?.kind !== 'landed' && (!isOver || waits)) return
  waiting.delete(waiter)
  if (sighting !== undefined) waiter.settle(sighting)
  else waiter.fail(new Fault('no Solana node in rotation answered getSignatureStatuses', { retryable: true }))
}

function isOverdue({ isExpected, deadlineMs, firstMs }: Waiter, nowMs: number): boolean {
  return nowMs >= (isExpected ? deadlineMs : firstMs)
}

/** Undefined if no node has answered. */
function judge({ commitment }: Watched, answers: readonly NodeStatuses[], index: number): Sighting | undefined {
  if (answers.length === 0) return undefined
  for (const { node, statuses } of answers) {
    const status = statuses[index]
    if (status !== undefined && reaches(status.commitment, commitment))
      return { kind: 'landed', node, slot: status.slot }
  }
  const slot = Math.min(...answers.map((answer) => answer.slot))
  const isYoung = answers.some(({ statuses }) => statuses[index] !== undefined)
  return isYoung ? { kind: 'young', slot } : { kind: 'unseen', slot, nodes: answers.length }
}

const ranks = { processed: 0, confirmed: 1, finalized: 2 } as const

function reaches(has: keyof typeof ranks, wanted: Commitment): boolean {
  return ranks[has] >= ranks[wanted]
}
