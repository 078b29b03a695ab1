import { LRUCache } from 'lru-cache'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { Failure, Meta } from '../product/product.ts'
import {
  askInTurn,
  askOne,
  type ProviderChainOptions,
  ProvidersFailed,
  ItemUnknown,
  providerMsMax,
  type ProviderAnswer,
} from './askInTurn.ts'
import { type AgreementPolicy, askForAgreement, ProvidersDiffer, whyUnconfirmable } from './askForAgreement.ts'
import { cacheBound } from './cacheBound.ts'
import { createLiveness, type Liveness } from '../product/liveness.ts'
import { createMissBudget } from './missBudget.ts'
import type { Provider, ProviderDeps } from './provider.ts'
import { type AnswerWords, failureOfCode, failureOfError } from './sourceFailure.ts'
import { createProviderShares, type Lookup, type ProviderShares } from './providerShares.ts'
import { type Credit, creditMeta, creditsOf } from '../product/providerTerms.ts'

export interface AnswerSource<Query, Data> {
  /** Undefined if a provider is available, or if the answer is cached. */
  whyUnavailable(query?: Query, buyer?: string): string | undefined
  /** True if the providers reported within the last ten minutes that the item does not exist. */
  isKnownMissing(query: Query): boolean
  /**
   * Returns an answer or a failure. Failures of providers are returned and not thrown. Concurrent callers with the same
   * query share one request. `buyer` is the paying wallet, whose lookups of missing items are limited.
   */
  ask(query: Query, buyer?: string): Promise<Found<Data> | Failure>
  readonly liveness: Liveness
}

export interface Found<Data> {
  readonly kind: 'found'
  readonly data: Data
  readonly details: Readonly<Record<string, Json>>
  readonly meta: Meta
}

export interface SourceOptions<Query, Data> extends ProviderChainOptions<Query, Data>, AnswerWords {
  readonly keyOf: (query: Query) => string
  /**
   * True if the item certainly exists. Other items count as existing for a day after a provider has answered them.
   * Absent: no item is known to exist before an answer.
   */
  readonly isListed?: (query: Query) => boolean
  /**
   * Every provider can answer these queries. Probes use them in turn, because some providers forbid an early
   * repetition.
   */
  readonly known: readonly [Query, ...Query[]]
  /** Age up to which a cached answer is served without a new request, in milliseconds. */
  readonly freshMs: number
  /** Additional age up to which a cached answer is served while every provider fails, in milliseconds. */
  readonly staleMs: number
  /**
   * Rule by which the answers of several providers must agree before an answer is sold. Absent: the providers are
   * queried in turn, and the first answer is sold.
   */
  readonly agreement?: AgreementPolicy<Query>
  /** Credits that are due for every answer, in addition to those of the used providers. */
  readonly credits?: readonly Credit[]
}

const rememberedMax = 5_000
const missingMax = 5_000
const missingMs = 10 * 60 * 1000
const provenMs = 24 * 60 * 60 * 1000
// Serve stale data for 5 s before querying all providers again.
const staleRetryMs = 5_000

type SourceDeps = Pick<ProviderDeps, 'clock' | 'sampleUpstreams' | 'isProbed' | 'openSharedCount'>

export function createSource<Query, Data>(
  deps: SourceDeps,
  options: SourceOptions<Query, Data>,
): AnswerSource<Query, Data> {
  const { keyOf, credits = [] } = options
  const { clock } = deps
  const perf = { now: () => clock.monotonicMs() }
  const missing = new LRUCache<string, true>({ perf, ttlResolution: 0, ...cacheBound(missingMax), ttl: missingMs })
  const proven = new LRUCache<string, true>({ perf, ttlResolution: 0, ...cacheBound(rememberedMax), ttl: provenMs })
  const misses = createMissBudget(clock)
  const shares = createProviderShares(deps, options.providers)
  const liveness = openLiveness(deps, options)
  const cache = createCache({ clock, options, liveness, shares })
  const lookupOf = (query: Query, buyer: string | undefined): Lookup => {
    return { buyer, isListed: proven.has(keyOf(query)) || options.isListed?.(query) === true }
  }
  const isAtHand = (query: Query) => {
    const found = cache.peek(keyOf(query), { allowStale: true })
    return found !== undefined && ageMsOf(clock, found) <= options.freshMs + options.staleMs
  }
  return {
    whyUnavailable(query, buyer) {
      if (query !== undefined && isAtHand(query)) return undefined
      if (query === undefined) return whyUnavailable({ options, liveness }, query)
      const refused = buyer === undefined || missing.has(keyOf(query)) ? undefined : misses.whyRefused(buyer)
      return (
        refused?.message ??
        whyUnavailable({ options, liveness }, query) ??
        whyNoShare(options, query, shares(lookupOf(query, buyer)))
      )
    },
    liveness,
    isKnownMissing: (query) => missing.has(keyOf(query)),
    async ask(query, buyer) {
      const key = keyOf(query)
      const askedAtMs = clock.monotonicMs()
      const counted = isAtHand(query) ? undefined : buyer
      const refused = counted === undefined ? undefined : misses.whyRefused(counted)
      if (refused !== undefined) return refused
      const endLookup = counted === undefined ? undefined : misses.begin(counted)
      let isMiss = false
      try {
        const found = await cache.forceFetch(key, { context: { query, lookup: lookupOf(query, buyer) } })
        proven.set(key, true)
        return {
          kind: 'found',
          data: found.observation.data,
          details: found.observation.details ?? {},
          meta: metaOf({ ...deps, credits }, found, { askedAtMs, ageMs: ageMsOf(clock, found) }),
        }
      } catch (error) {
        if (error instanceof ProvidersFailed) return failureOfError(options, error)
        if (!(error instanceof ItemUnknown)) throw error
        isMiss = true
        missing.set(key, true)
        return failureOfCode(options, 'NO_DATA')
      } finally {
        endLookup?.(isMiss)
      }
    },
  }
}

function ageMsOf(clock: Clock, { fetchedAtMs }: Pick<ProviderAnswer<unknown>, 'fetchedAtMs'>): number {
  return clock.monotonicMs() - fetchedAtMs
}

interface CacheDeps<Query, Data> extends SourceProviders<Query, Data> {
  readonly clock: Clock
  readonly shares: ProviderShares<Query, Data>
}

function createCache<Query, Data>({ clock, options, liveness, shares }: CacheDeps<Query, Data>) {
  const { agreement, freshMs, staleMs } = options
  return new LRUCache<string, ProviderAnswer<Data>, { readonly query: Query; readonly lookup: Lookup }>({
    perf: { now: () => clock.monotonicMs() },
    ttlResolution: 0,
    max: rememberedMax,
    ttl: freshMs,
    async fetchMethod(_key, old, { context: { query, lookup }, options: entry }) {
      const asking = { clock, liveness, options: { ...options, providers: shares(lookup) } }
      try {
        return agreement === undefined
          ? await askInTurn(asking, query)
          : await askForAgreement(asking, agreement, query)
      } catch (error) {
        const mayStandIn = error instanceof ProvidersFailed && !(error instanceof ProvidersDiffer)
        if (old === undefined || !mayStandIn || ageMsOf(clock, old) > freshMs + staleMs) throw error
        entry.ttl = staleRetryMs
        return old
      }
    },
  })
}

interface SourceProviders<Query, Data> {
  readonly options: SourceOptions<Query, Data>
  readonly liveness: Liveness
}

function whyUnavailable<Query, Data>(
  { options: { what, providers, agreement }, liveness }: SourceProviders<Query, Data>,
  query: Query | undefined,
): string | undefined {
  const answering = providers.filter(({ name }) => liveness.answers(name))
  if (answering.length === 0) return `no provider of ${what} answers at the moment`
  const ready = answering.filter((provider) => provider.whyUnavailable() === undefined)
  if (ready.length === 0) return `no provider of ${what} can be asked at the moment`
  const covers = (provider: Provider<Query, Data>) => query === undefined || provider.covers?.(query) !== false
  if (!ready.some(covers)) return `no provider that answers at the moment has ${what} for this request`
  if (query === undefined || agreement === undefined) return undefined
  const why = whyUnconfirmable(providers, agreement, query)
  return why === undefined ? undefined : `${what}: ${why}`
}

/** Undefined if a share is left at one provider or more. */
function whyNoShare<Query, Data>(
  { what }: SourceOptions<Query, Data>,
  query: Query,
  shared: readonly Provider<Query, Data>[],
): string | undefined {
  const reasons = shared.filter(({ covers }) => covers?.(query) !== false).map((provider) => provider.whyUnavailable())
  return reasons.includes(undefined) ? undefined : `${what}: ${reasons.join(', ')}`
}

function openLiveness<Query, Data>(deps: SourceDeps, options: SourceOptions<Query, Data>): Liveness {
  const { clock } = deps
  const { known, providers } = options
  let asked = 0
  const probed = providers.map((provider) => ({
    ...provider,
    async probe() {
      const leftMs = providerMsMax
      const query = known[asked++ % known.length] ?? known[0]
      const { fetchedAtMs } = await askOne({ clock, options, provider, leftMs }, query)
      // Reject an answer from the adapter's own storage, because it does not prove that the provider works now.
      return clock.monotonicMs() - fetchedAtMs <= leftMs
    },
  }))
  return createLiveness(deps, probed)
}

function metaOf<Data>(
  { sampleUpstreams, credits }: Pick<SourceDeps, 'sampleUpstreams'> & { readonly credits: readonly Credit[] },
  { observation, provider, fetchedAtMs, usedProviders = [provider] }: ProviderAnswer<Data>,
  { askedAtMs, ageMs }: { readonly askedAtMs: number; readonly ageMs: number },
): Meta {
  const own: Readonly<Record<string, Json>> = observation.meta ?? {}
  return {
    ...own,
    source: sampleUpstreams ? `sample:${provider}` : provider,
    asOf: isoTime(observation.asOfMs),
    cached: fetchedAtMs < askedAtMs,
    ...creditMeta([...creditsOf(usedProviders), ...credits]),
    ageSeconds: Math.floor(ageMs / 1000),
  }
}
