import { LRUCache } from 'lru-cache'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { isPassing, isVerdict, UpstreamFailure } from '../outbound/upstreamFailure.ts'
import type { Meta, Outcome } from '../product/product.ts'
import type { Observation, Provider, ProviderDeps } from './providers/provider.ts'

/** The providers of one endpoint in the order they are asked, with a short memory of what they said. */
export interface Source<Query, Data> {
  /** Undefined when at least one provider can be asked, or when the answer to this query is still at hand. */
  whyUnavailable(query?: Query): string | undefined
  /** True when it was asked for a short time ago and nobody had it: then it is refused before anybody pays. */
  isKnownMissing(query: Query): boolean
  /** Never throws for what the providers do. Callers who ask for the same at once share one question. */
  ask(query: Query): Promise<Found<Data>>
}

export type Found<Data> =
  | { readonly kind: 'found'; readonly data: Data; readonly meta: Meta }
  | Extract<Outcome, { kind: 'failed' }>

export interface SourceOptions<Query, Data> {
  /** What is asked for, in words for the caller: `a cryptocurrency price`. */
  readonly what: string
  readonly providers: readonly Provider<Query, Data>[]
  readonly keyOf: (query: Query) => string
  /** An answer is given again for so long without asking. */
  readonly freshMs: number
  /** And for so long if everybody fails. */
  readonly staleMs: number
  /** Older than this by the provider's own word is no answer at all. */
  readonly ageMaxMs: number
  /** So far ahead may it be; only a forecast is of a time to come. */
  readonly aheadMaxMs?: number
  /** What would help when nobody knows it, as a sentence. */
  readonly hint?: string
}

interface Remembered<Data> {
  readonly observation: Observation<Data>
  readonly provider: string
  /** On the clock that never goes back: how old an answer is must not depend on somebody setting the time. */
  readonly fetchedAtMs: number
}

const rememberedMax = 5_000
const missingMax = 5_000
const missingMs = 10 * 60 * 1000
// During an outage the old answer is given at once for so long before everybody is asked, in vain and in full, again.
const staleRetryMs = 5_000
// Whatever a provider's own time-outs are: who hangs leaves time for the next, and a caller waits no longer than this.
const providerMsMax = 4_000
const chainMsMax = 10_000
// By the clocks of others: a little ahead is ordinary, more is not a time.
const aheadMaxMsDefault = 5 * 60 * 1000

type SourceDeps = Pick<ProviderDeps, 'clock' | 'sampleUpstreams'>

export function createSource<Query, Data>(deps: SourceDeps, options: SourceOptions<Query, Data>): Source<Query, Data> {
  const { keyOf, providers } = options
  const { clock } = deps
  const perf = { now: () => clock.monotonicMs() }
  const missing = new LRUCache<string, true>({ perf, ttlResolution: 0, max: missingMax, ttl: missingMs })
  const keptMs = options.freshMs + options.staleMs
  const ageMsOf = ({ fetchedAtMs }: Remembered<Data>) => clock.monotonicMs() - fetchedAtMs
  const cache = new LRUCache<string, Remembered<Data>, { readonly query: Query }>({
    perf,
    ttlResolution: 0,
    max: rememberedMax,
    ttl: options.freshMs,
    async fetchMethod(_key, old, { context, options: entry }) {
      try {
        return await askInTurn({ clock, options }, context.query)
      } catch (error) {
        const mayStandIn = error instanceof NobodyAnswered && error.code !== 'NO_DATA'
        if (old === undefined || !mayStandIn || ageMsOf(old) > keptMs) throw error
        entry.ttl = staleRetryMs
        return old
      }
    },
  })
  const isAtHand = (query: Query) => {
    const found = cache.peek(keyOf(query), { allowStale: true })
    return found !== undefined && ageMsOf(found) <= keptMs
  }
  return {
    whyUnavailable: (query) =>
      providers.some((provider) => provider.whyUnavailable() === undefined) || (query !== undefined && isAtHand(query))
        ? undefined
        : `no source of ${options.what} can be asked at the moment`,
    isKnownMissing: (query) => missing.has(keyOf(query)),
    async ask(query) {
      const key = keyOf(query)
      const askedAtMs = clock.monotonicMs()
      try {
        const found = await cache.forceFetch(key, { context: { query } })
        return {
          kind: 'found',
          data: found.observation.data,
          meta: metaOf(deps, found, { askedAtMs, ageMs: ageMsOf(found) }),
        }
      } catch (error) {
        if (!(error instanceof NobodyAnswered)) throw error
        if (error.isVerdict) missing.set(key, true)
        return { kind: 'failed', code: error.code, message: messageOf(options, error.code) }
      }
    },
  }
}

/** All providers were asked, and none had an answer. */
class NobodyAnswered extends Error {
  override readonly name = 'NobodyAnswered'
  readonly failures: readonly UpstreamFailure[]

  constructor(failures: readonly UpstreamFailure[]) {
    super('no provider had an answer')
    this.failures = failures
  }

  /** There is none, unless somebody knows it and lacks a part of it, or may still have it and could not say. */
  get code() {
    const isOpen = this.failures.some((failure) => isPassing(failure) || failure.kind === 'incomplete')
    if (!isOpen && this.failures.some(isVerdict)) return 'NO_DATA'
    return this.failures.some(({ kind }) => kind === 'timeout') ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_FAILED'
  }

  /** Everybody says that it does not exist: worth remembering. */
  get isVerdict(): boolean {
    return this.failures.every(isVerdict)
  }
}

interface Asking<Query, Data> {
  readonly clock: Clock
  readonly options: SourceOptions<Query, Data>
}

async function askInTurn<Query, Data>(
  { clock, options }: Asking<Query, Data>,
  query: Query,
): Promise<Remembered<Data>> {
  const failures: UpstreamFailure[] = []
  const endMs = clock.monotonicMs() + chainMsMax
  for (const provider of options.providers) {
    const leftMs = Math.min(endMs - clock.monotonicMs(), providerMsMax)
    try {
      const why = provider.whyUnavailable()
      if (why !== undefined) throw new UpstreamFailure('resting', why)
      if (leftMs <= 0) throw new UpstreamFailure('timeout', `no time is left for ${provider.name}`)
      const observation = await within(clock, leftMs, provider.ask(query))
      const ageMs = clock.nowMs() - observation.asOfMs
      if (!(ageMs <= options.ageMaxMs && ageMs >= -(options.aheadMaxMs ?? aheadMaxMsDefault)))
        throw new UpstreamFailure('incomplete', `${provider.name} answered with what is not of now`)
      const heldMs = clock.nowMs() - (observation.fetchedAtMs ?? clock.nowMs())
      return { observation, provider: provider.name, fetchedAtMs: clock.monotonicMs() - heldMs }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      failures.push(error)
    }
  }
  throw new NobodyAnswered(failures)
}

/** A provider that is given up on goes on to its own time-out; nobody looks at what comes of it. */
async function within<T>(clock: Clock, durationMs: number, asked: Promise<T>): Promise<T> {
  const ended = new AbortController()
  const late = clock.sleep(durationMs, ended.signal).then(
    (): T => {
      throw new UpstreamFailure('timeout', `no answer within ${durationMs} ms`)
    },
    // It answered in time; `asked` has settled the race.
    () => asked,
  )
  try {
    return await Promise.race([asked, late])
  } finally {
    ended.abort()
  }
}

function metaOf<Data>(
  { sampleUpstreams }: SourceDeps,
  { observation, provider, fetchedAtMs }: Remembered<Data>,
  { askedAtMs, ageMs }: { readonly askedAtMs: number; readonly ageMs: number },
): Meta {
  const detail: Readonly<Record<string, Json>> = observation.detail ?? {}
  return {
    ...detail,
    source: sampleUpstreams ? `sample:${provider}` : provider,
    asOf: isoTime(observation.asOfMs),
    cached: fetchedAtMs < askedAtMs,
    ageSeconds: Math.floor(ageMs / 1000),
  }
}

function messageOf<Query, Data>(
  { what, hint }: SourceOptions<Query, Data>,
  code: 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT',
): string {
  const help = hint === undefined ? 'check the spelling' : `check the spelling: ${hint}`
  const said = {
    NO_DATA: `no source has ${what} for what you asked; ${help}`,
    UPSTREAM_FAILED: `no source of ${what} gave a usable answer; repeat with the same proof`,
    UPSTREAM_TIMEOUT: `no source of ${what} answered in time; repeat with the same proof`,
  }
  return said[code]
}
