import { describeError, Fault } from '@tollbook/core/fault'
import { type Repeated, repeat, type RepeatDeps } from './repeat.ts'

export interface PolledSource<Article> {
  readonly name: string
  readonly lane: string
  readonly category: string
  readonly provider: string
  readonly everyMs: number
  readonly spacingMs: number
  whyUnavailable(): string | undefined
  poll(known: KnownVersion, signal: AbortSignal): Promise<KnownVersion & { readonly articles: readonly Article[] }>
}

/** Validators of the last answer (RFC 9110), for a conditional request. */
export interface KnownVersion {
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

/** All instances share this store. It decides when a source is polled, and by which instance. */
export interface PollStore<Article> {
  takePoll(sources: readonly PolledSource<Article>[]): Promise<(KnownVersion & { readonly name: string }) | undefined>
  keep(batch: {
    readonly provider: string
    readonly category: string
    readonly feed: string
    readonly articles: readonly Article[]
  }): Promise<number>
  pollSucceeded(done: KnownVersion & { readonly name: string; readonly everyMs: number }): Promise<void>
  pollFailed(name: string): Promise<void>
  forgetOld(): Promise<void>
}

export interface NewsPollingDeps<Article> extends RepeatDeps {
  /** Sources that this instance polls. Empty: other instances poll, and this instance only serves the articles. */
  readonly sources: readonly PolledSource<Article>[]
  readonly store: PollStore<Article>
  /** Updates the endpoint's view of the stored articles, even if another instance fetched them. */
  readonly refresh: () => Promise<void>
}

const everyMs = 1_000
const refreshEveryMs = 5_000
const forgetEveryMs = 60 * 60 * 1000
// Maximum of sources polled at the same time, so that a feed that hangs does not block other feeds.
const pollersMax = 3

/**
 * Starts to poll the sources. Returns at once, so that a start does not wait for feeds. A stop interrupts polls in
 * progress.
 */
export function startNewsPolling<Article>(deps: NewsPollingDeps<Article>): Repeated {
  const stopping = new AbortController()
  const state: State<Article> = {
    ...deps,
    signal: stopping.signal,
    failing: new Map(),
    reported: '',
    problem: undefined,
    refreshedAtMs: -Infinity,
  }
  const polling = repeat(deps, { name: 'news polling', everyMs, run: () => pollAndRefresh(state) })
  const forgetting = repeat(deps, { name: 'news housekeeping', everyMs: forgetEveryMs, run: deps.store.forgetOld })
  return {
    async stop() {
      stopping.abort()
      await Promise.all([polling.stop(), forgetting.stop()])
    },
  }
}

interface State<Article> extends NewsPollingDeps<Article> {
  readonly signal: AbortSignal
  readonly failing: Map<string, string>
  reported: string
  problem: string | undefined
  refreshedAtMs: number
}

/**
 * Polls the sources that are due, and refreshes the view. Logs failures when they begin and when they end, because a
 * run each second would repeat them.
 */
async function pollAndRefresh<Article>(state: State<Article>): Promise<void> {
  const { clock, log } = state
  try {
    const polls = await Promise.all(Array.from({ length: pollersMax }, () => pollDue(state)))
    if (polls.some((count) => count > 0) || clock.monotonicMs() - state.refreshedAtMs >= refreshEveryMs) {
      await state.refresh()
      state.refreshedAtMs = clock.monotonicMs()
    }
    if (state.problem !== undefined) log.info({ event: 'news_polling_resumed' })
    state.problem = undefined
  } catch (error) {
    const problem = describeError(error)
    if (problem !== state.problem) log.warn({ event: 'news_polling_failed', error: problem })
    state.problem = problem
  }
  report(state)
}

async function pollDue<Article>(state: State<Article>): Promise<number> {
  const { sources, store, signal } = state
  for (let polls = 0; polls < sources.length && !signal.aborted; polls++) {
    const ready = sources.filter((source) => source.whyUnavailable() === undefined)
    const taken = ready.length === 0 ? undefined : await store.takePoll(ready)
    const source = ready.find(({ name }) => name === taken?.name)
    if (taken === undefined || source === undefined) return polls
    await pollOne(state, source, taken)
  }
  return sources.length
}

async function pollOne<Article>(
  state: State<Article>,
  source: PolledSource<Article>,
  known: KnownVersion,
): Promise<void> {
  const { store, failing, signal } = state
  const { name, lane, category, provider, everyMs } = source
  try {
    const { articles, etag, lastModified } = await source.poll(known, signal)
    await store.keep({ provider, category, feed: lane, articles })
    await store.pollSucceeded({ name, everyMs, etag, lastModified })
    failing.delete(lane)
  } catch (error) {
    // Handle failures of the source only, because a failure of the store concerns all sources.
    if (!(error instanceof Fault)) throw error
    if (!signal.aborted) failing.set(lane, describeError(error))
    await store.pollFailed(name)
  }
}

function report<Article>(state: State<Article>): void {
  const { failing, log } = state
  const names = [...failing.keys()].sort().join(' ')
  if (names === state.reported) return
  state.reported = names
  if (failing.size === 0) log.info({ event: 'news_sources_recovered' })
  else log.warn({ event: 'news_sources_failing', failing: Object.fromEntries(failing) })
}
