import { LRUCache } from 'lru-cache'
import type { Json } from '../primitives/canonicalJson.ts'
import { type Clock, isoTime } from '../primitives/clock.ts'
import { UpstreamFailure } from '../outbound/upstreamFailure.ts'
import type { Meta, Outcome } from './endpoint.ts'
import type { Observation, Provider, ProviderDeps } from './providers/provider.ts'

/** The providers of one endpoint in the order they are asked, with a short memory of what they said. */
export interface Source<Query, Data> {
  /** Undefined when at least one provider can be asked. */
  whyUnavailable(): string | undefined
  /** True when it was asked for a short time ago and nobody knew it: then it is refused before anybody pays. */
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
}

interface Remembered<Data> {
  readonly observation: Observation<Data>
  readonly provider: string
  readonly fetchedAtMs: number
}

const rememberedMax = 5_000
const missingMax = 5_000
const missingMs = 10 * 60 * 1000

type SourceDeps = Pick<ProviderDeps, 'clock' | 'sampleUpstreams'>

export function createSource<Query, Data>(deps: SourceDeps, options: SourceOptions<Query, Data>): Source<Query, Data> {
  const { keyOf, providers } = options
  const { clock } = deps
  const missing = new LRUCache<string, true>({ max: missingMax, ttl: missingMs })
  const cache = new LRUCache<string, Remembered<Data>, { readonly query: Query }>({
    perf: { now: () => clock.monotonicMs() },
    max: rememberedMax,
    ttl: options.freshMs,
    allowStale: false,
    allowStaleOnFetchRejection: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (_key, _stale, { context }) => askInTurn({ clock, options }, context.query),
  })
  return {
    whyUnavailable: () =>
      providers.every((provider) => provider.whyUnavailable() !== undefined)
        ? `no source of ${options.what} can be asked at the moment`
        : undefined,
    isKnownMissing: (query) => missing.has(keyOf(query)),
    async ask(query) {
      const key = keyOf(query)
      const askedAtMs = clock.nowMs()
      try {
        const found = await cache.forceFetch(key, { context: { query } })
        const ageMs = clock.nowMs() - found.fetchedAtMs
        // What stands in for an answer that nobody gave has its limit too.
        if (ageMs > options.freshMs + options.staleMs) return failed(options, 'UPSTREAM_FAILED')
        return { kind: 'found', data: found.observation.data, meta: metaOf(deps, found, { askedAtMs, ageMs }) }
      } catch (error) {
        if (!(error instanceof NobodyAnswered)) throw error
        if (error.isVerdict) missing.set(key, true)
        return failed(options, error.code)
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

  get code() {
    if (this.failures.some(({ kind }) => kind === 'not_found')) return 'NO_DATA'
    return this.failures.some(({ kind }) => kind === 'timeout') ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_FAILED'
  }

  /** Everybody who could be asked knows that it does not exist: worth remembering. */
  get isVerdict(): boolean {
    return (
      this.failures.some(({ kind }) => kind === 'not_found') &&
      this.failures.every(({ kind }) => kind === 'not_found' || kind === 'not_covered')
    )
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
  for (const provider of options.providers) {
    if (provider.whyUnavailable() !== undefined) continue
    try {
      const observation = await provider.ask(query)
      if (clock.nowMs() - observation.asOfMs > options.ageMaxMs)
        throw new UpstreamFailure('incomplete', `${provider.name} is of ${isoTime(observation.asOfMs)}`)
      return { observation, provider: provider.name, fetchedAtMs: observation.fetchedAtMs ?? clock.nowMs() }
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      failures.push(error)
    }
  }
  throw new NobodyAnswered(failures)
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

function failed<Query, Data>(
  { what }: SourceOptions<Query, Data>,
  code: 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT',
): Extract<Outcome, { kind: 'failed' }> {
  const said = {
    NO_DATA: `no source knows it: there is no ${what} for what you asked; check the spelling and repeat with the same proof`,
    UPSTREAM_FAILED: `no source of ${what} gave a usable answer; repeat with the same proof`,
    UPSTREAM_TIMEOUT: `no source of ${what} answered in time; repeat with the same proof`,
  }
  return { kind: 'failed', code, message: said[code] }
}
