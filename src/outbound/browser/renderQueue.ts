import { LRUCache } from 'lru-cache'
import { assert } from '@tollbook/core/assert'
import type { Clock } from '@tollbook/core/clock'

/** Places for jobs that run at once, and a bounded, fair queue before them (decision 0038). */
export interface RenderQueue {
  waitingCount(): number
  /** Jobs that a job of this payer with a new site would wait for. Without a payer: of one who has bought nothing lately. */
  aheadCount(payer?: string): number
  /** A turn, or `full` and `aborted`: the job has none. */
  enter(job: QueuedJob): Promise<RenderTurn | 'full' | 'aborted'>
}

export interface QueuedJob {
  readonly payer: string
  /** Host of the page, or the payer for HTML that was given. */
  readonly site: string
  readonly signal: AbortSignal
}

export interface RenderTurn {
  /** The page gets nothing, or has had its place for long: it passes to another job, and the page continues without one. */
  stall(): void
  /** Aborted when too many pages continue without a place, and this one is the last that should. */
  readonly hurry: AbortSignal
  /** `failed`: nothing was sold, so the time of the page counts like a stall. */
  leave(outcome: 'rendered' | 'failed'): void
}

export interface RenderQueueDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly placesMax: number
  readonly waitingMax: number
  /** Pages that continue without a place. */
  readonly stalledMax: number
}

interface Running extends Omit<QueuedJob, 'signal'> {
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
  /** Milliseconds that pages of a payer or a site have stalled, or failed, lately. */
  readonly wastedMs: LRUCache<string, number>
  /** Payers with a page that was rendered lately. */
  readonly customers: LRUCache<string, true>
}

// A job that runs counts as much as a page that has stalled for this long.
const runningWeightMs = 5_000
const rememberedMax = 10_000
// Long enough to outlast a series of retries, short enough that a site which was down is not punished for a day.
const rememberedMs = 5 * 60 * 1000
// A payer who has bought nothing lately counts as one whose page has stalled for this long: wallets are free, so a crowd
// of new ones must not stand before those who buy.
const strangerMs = 1_000
const customerMs = 60 * 60 * 1000

/** The next job is the one whose payer and site use the browser least; of equals, the one that came first. */
export function createRenderQueue(deps: RenderQueueDeps): RenderQueue {
  const perf = { now: () => deps.clock.monotonicMs() }
  const bounds = { perf, ttlResolution: 0, max: rememberedMax }
  const wastedMs = new LRUCache<string, number>({ ...bounds, ttl: rememberedMs })
  const customers = new LRUCache<string, true>({ ...bounds, ttl: customerMs })
  const state: QueueState = { ...deps, running: new Set(), waiting: [], wastedMs, customers }
  return {
    waitingCount: () => state.waiting.length,
    aheadCount: (payer = newcomer) => {
      const use = useOf(state, { payer, site: payer })
      return state.waiting.filter((job) => useOf(state, job) <= use).length
    },
    enter: (job) => enter(state, job),
  }
}

// No wallet has this address.
const newcomer = ''

function enter(state: QueueState, job: QueuedJob): Promise<RenderTurn | 'full' | 'aborted'> {
  if (job.signal.aborted) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const giveUp = (): void => dismiss(state, waiting, 'aborted')
    const waiting: Waiting = { ...job, resolve, giveUp }
    job.signal.addEventListener('abort', giveUp, { once: true })
    state.waiting.push(waiting)
    admit(state)
    // The job that would be served last has no turn, not the one that came last.
    const last = state.waiting.length > state.waitingMax ? lastOf(state, state.waiting.toReversed()) : undefined
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
    const next = firstOf(state, state.waiting)
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

function turnOf(state: QueueState, running: Running): RenderTurn {
  return {
    hurry: running.hurry.signal,
    stall() {
      if (running.stalledAtMs !== undefined || !state.running.has(running)) return
      running.stalledAtMs = state.clock.monotonicMs()
      hurryLast(state)
      admit(state)
    },
    leave(outcome) {
      assert(state.running.delete(running), 'a job that leaves had a turn')
      const wastedSinceMs = outcome === 'failed' ? running.startedAtMs : running.stalledAtMs
      if (wastedSinceMs !== undefined) remember(state, running, state.clock.monotonicMs() - wastedSinceMs)
      if (outcome === 'rendered') state.customers.set(running.payer, true)
      admit(state)
    },
  }
}

function hurryLast(state: QueueState): void {
  const stalled = [...state.running].filter(
    ({ stalledAtMs, hurry }) => stalledAtMs !== undefined && !hurry.signal.aborted,
  )
  if (stalled.length > state.stalledMax) lastOf(state, stalled)?.hurry.abort()
}

function activeCount({ running }: QueueState): number {
  return [...running].filter(({ stalledAtMs }) => stalledAtMs === undefined).length
}

function remember({ wastedMs }: QueueState, { payer, site }: Running, ms: number): void {
  for (const key of keysOf({ payer, site })) wastedMs.set(key, (wastedMs.get(key) ?? 0) + ms)
}

function keysOf({ payer, site }: Pick<QueuedJob, 'payer' | 'site'>): readonly string[] {
  return [`payer ${payer}`, `site ${site}`]
}

/** The use of the browser by the payer and by the site of a job: what runs now, and what was wasted lately. */
function useOf({ running, wastedMs, customers }: QueueState, job: Pick<QueuedJob, 'payer' | 'site'>): number {
  const others = [...running].filter((other) => other !== job)
  const ofPayer = others.filter(({ payer }) => payer === job.payer).length
  const ofSite = others.filter(({ site }) => site === job.site).length
  const lately = keysOf(job).reduce((sum, key) => sum + (wastedMs.get(key) ?? 0), 0)
  return (ofPayer + ofSite) * runningWeightMs + lately + (customers.has(job.payer) ? 0 : strangerMs)
}

type Queued = Pick<QueuedJob, 'payer' | 'site'>

function firstOf<T extends Queued>(state: QueueState, jobs: readonly T[]): T | undefined {
  const [first, ...others] = jobs
  if (first === undefined) return undefined
  let best = { job: first, use: useOf(state, first) }
  for (const job of others) {
    const use = useOf(state, job)
    if (use < best.use) best = { job, use }
  }
  return best.job
}

/** Of equals the first of the list. */
function lastOf<T extends Queued>(state: QueueState, jobs: readonly T[]): T | undefined {
  return [...jobs].sort((one, other) => useOf(state, other) - useOf(state, one))[0]
}
