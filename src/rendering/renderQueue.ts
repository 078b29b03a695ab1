import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'
import { type BrowserUser, createRenderRecord, type RenderRecord } from './renderRecord.ts'

export type RenderQueue = ReturnType<typeof createRenderQueue>

export interface QueuedJob extends BrowserUser {
  readonly signal: AbortSignal
}

/** A running job keeps its turn when its place passes to another job. */
export type RenderTurn = ReturnType<typeof turnOf>

/**
 * `failed`: the page caused the failure, so its whole time counts as wasted. `interrupted`: the caller or other pages
 * ended the job, or the job failed before the page was opened.
 */
export type TurnOutcome = 'rendered' | 'failed' | 'interrupted'

export interface RenderQueueDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly placesMax: number
  readonly waitingMax: number
  /** Maximum number of pages that continue without a place. */
  readonly stalledMax: number
}

interface Running extends BrowserUser {
  readonly startedAtMs: number
  stalledAtMs: number | undefined
  readonly hurry: AbortController
}

interface Waiting extends QueuedJob {
  readonly resolve: (turn: RenderTurn | 'full' | 'aborted') => void
  readonly giveUp: () => void
}

interface QueueState extends RenderQueueDeps {
  readonly running: Set<Running>
  waiting: Waiting[]
  readonly record: RenderRecord
}

// Each running job adds this use to its payer and to its site. A payer without recent purchases starts with 60 s. The
// number is larger, so that such a payer ranks before a customer with a running job.
const runningWeightMs = 70_000
// A page that stalls longer may be one of a crowd of hanging pages, so it does not make its payer a customer.
const stalledOfCustomerMsMax = 5_000

/**
 * Creates the queue. The next job is the one whose payer and site use the browser least (decision 0008). Jobs with
 * equal use keep their order of arrival.
 */
export function createRenderQueue(deps: RenderQueueDeps) {
  const state: QueueState = { ...deps, running: new Set(), waiting: [], record: createRenderRecord(deps.clock) }
  return {
    waitingCount: () => state.waiting.length,
    /**
     * Returns the number of jobs before a new job of this payer with a new site. Without a payer, counts for a payer
     * without recent purchases.
     */
    aheadCount: (payer = newcomer) => {
      const use = useOf(state, { payer, site: payer })
      return state.waiting.filter((job) => useOf(state, job) <= use).length
    },
    /** Waits for the turn of a job. Resolves to `full` or `aborted` if the job gets no turn. */
    enter: (job: QueuedJob) => enter(state, job),
  }
}

// Payer without purchases: no wallet has this address.
const newcomer = ''

function enter(state: QueueState, job: QueuedJob): Promise<RenderTurn | 'full' | 'aborted'> {
  if (job.signal.aborted) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const giveUp = (): void => dismiss(state, waiting, 'aborted')
    const waiting: Waiting = { ...job, resolve, giveUp }
    job.signal.addEventListener('abort', giveUp, { once: true })
    state.waiting.push(waiting)
    admit(state)
    // If the queue is full, refuse the job with the lowest rank instead of the last to arrive.
    const last = state.waiting.length > state.waitingMax ? ranked(state, state.waiting).at(-1) : undefined
    if (last !== undefined) dismiss(state, last, 'full')
  })
}

function dismiss(state: QueueState, waiting: Waiting, answer: RenderTurn | 'full' | 'aborted'): void {
  state.waiting = state.waiting.filter((other) => other !== waiting)
  waiting.signal.removeEventListener('abort', waiting.giveUp)
  waiting.resolve(answer)
}

function admit(state: QueueState): void {
  while (activeCount(state) < state.placesMax) {
    const [next] = ranked(state, state.waiting)
    if (next === undefined) return
    const running: Running = {
      payer: next.payer,
      site: next.site,
      startedAtMs: state.clock.monotonicMs(),
      stalledAtMs: undefined,
      hurry: new AbortController(),
    }
    state.running.add(running)
    dismiss(state, next, turnOf(state, running))
  }
}

function turnOf(state: QueueState, running: Running) {
  const { record, clock } = state
  return {
    standing: record.userStanding(running),
    /** Aborted when too many pages continue without a place and this page has the lowest rank. */
    hurry: running.hurry.signal,
    /**
     * Gives the place to another job, because the page has received nothing or has had it for too long. The page
     * continues without a place.
     */
    stall(): void {
      if (running.stalledAtMs !== undefined || !state.running.has(running)) return
      running.stalledAtMs = clock.monotonicMs()
      hurryLast(state)
      admit(state)
    },
    loseBrowser: () => record.addLoss(running),
    leave(outcome: TurnOutcome): void {
      assert(state.running.delete(running), 'a job that leaves had a turn')
      const nowMs = clock.monotonicMs()
      const stalledMs = nowMs - (running.stalledAtMs ?? nowMs)
      const wastedMs = outcome === 'failed' ? nowMs - running.startedAtMs : stalledMs
      if (wastedMs > 0) record.addWaste(running, wastedMs)
      const isHung = stalledMs > stalledOfCustomerMsMax || running.hurry.signal.aborted
      if (outcome === 'rendered' && !isHung) record.addCustomer(running.payer)
      admit(state)
    },
  }
}

function hurryLast(state: QueueState): void {
  const stalled = [...state.running].filter(
    ({ stalledAtMs, hurry }) => stalledAtMs !== undefined && !hurry.signal.aborted,
  )
  // Of pages with equal use, the one that started first is hurried.
  if (stalled.length > state.stalledMax) ranked(state, stalled.toReversed()).at(-1)?.hurry.abort()
}

function activeCount({ running }: QueueState): number {
  return [...running].filter(({ stalledAtMs }) => stalledAtMs === undefined).length
}

/**
 * Returns the use in milliseconds: the running jobs of payer and site, the time that their earlier pages wasted, and an
 * addition for a payer without recent purchases.
 */
function useOf({ running, record }: QueueState, job: BrowserUser): number {
  const others = [...running].filter((other) => other !== job)
  const ofPayer = others.filter(({ payer }) => payer === job.payer).length
  const ofSite = others.filter(({ site }) => site === job.site).length
  return (ofPayer + ofSite) * runningWeightMs + record.useOf(job)
}

/** Returns the jobs by use, the lowest use first. Jobs with equal use keep their order. */
function ranked<T extends BrowserUser>(state: QueueState, jobs: readonly T[]): readonly T[] {
  const used = jobs.map((job) => ({ job, use: useOf(state, job) }))
  return used.toSorted((one, other) => one.use - other.use).map(({ job }) => job)
}
