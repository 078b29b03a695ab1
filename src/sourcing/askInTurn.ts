import type { Clock } from '@tollbook/core/clock'
import { waitWithin } from '../outbound/untilSilent.ts'
import { isMissingItem, UpstreamFailure } from '../product/upstreamFailure.ts'
import type { Liveness } from '../product/liveness.ts'
import type { Observation, Provider } from './provider.ts'

export interface ProviderChainOptions<Query, Data> {
  readonly providers: readonly Provider<Query, Data>[]
  /** Maximum age of an answer by the provider's own timestamp. An older answer counts as a failure. */
  readonly ageMaxMs: number
  /** Maximum time by which an answer's timestamp may be in the future. Absent: 5 minutes. */
  readonly aheadMaxMs?: number
}

export interface ProviderAnswer<Data> {
  readonly observation: Observation<Data>
  readonly provider: string
  /** Time of the fetch on the monotonic clock, so that a change of the system clock does not change the age. */
  readonly fetchedAtMs: number
  /** Names of the sources that agree on the answer. Absent: only its provider. */
  readonly usedProviders?: readonly string[]
}

// Time limits for one provider, and for all providers of a query together, in milliseconds.
export const providerMsMax = 4_000
export const chainMsMax = 10_000
// Tolerate timestamps up to five minutes in the future, because the clocks of providers differ.
const aheadMaxMsDefault = 5 * 60 * 1000

/**
 * Thrown if no provider has the item: at least one provider lacks it, and every other provider lacks or does not cover
 * it.
 */
export class ItemUnknown extends Error {
  override readonly name = 'ItemUnknown'
}

/** Thrown if there is no usable answer, but a provider that failed may have the item, or no provider covers it. */
export class ProvidersFailed extends Error {
  override readonly name = 'ProvidersFailed'
  readonly code: 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT'

  constructor(failures: readonly UpstreamFailure[]) {
    super('no provider had a usable answer')
    this.code = failures.some(({ kind }) => kind === 'timeout') ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_FAILED'
  }
}

export function noAnswerOf(failures: readonly UpstreamFailure[]): ItemUnknown | ProvidersFailed {
  const isKnownMissing = failures.every(isMissingItem) && failures.some(({ kind }) => kind === 'not_found')
  return isKnownMissing ? new ItemUnknown('no provider has the item') : new ProvidersFailed(failures)
}

export interface ProvidersInTurn<Query, Data> {
  readonly clock: Clock
  readonly options: ProviderChainOptions<Query, Data>
  readonly liveness: Liveness
}

/** Throws `ItemUnknown` or `ProvidersFailed` if no provider has a usable answer within `chainMsMax`. */
export async function askInTurn<Query, Data>(
  { clock, options, liveness }: ProvidersInTurn<Query, Data>,
  query: Query,
): Promise<ProviderAnswer<Data>> {
  const failures: UpstreamFailure[] = []
  const endMs = clock.monotonicMs() + chainMsMax
  for (const provider of options.providers) {
    const leftMs = Math.min(endMs - clock.monotonicMs(), providerMsMax)
    try {
      const answer = await askOne({ clock, options, provider, leftMs }, query)
      liveness.noteAnswer(provider.name)
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      // Count the failure only if time was left. Otherwise no request was sent, and the provider is not at fault.
      if (leftMs > 0) liveness.noteFailure(provider.name, error)
      failures.push(error)
    }
  }
  throw noAnswerOf(failures)
}

export interface AskedProvider<Query, Data> {
  readonly clock: Clock
  readonly options: ProviderChainOptions<Query, Data>
  readonly provider: Provider<Query, Data>
  readonly leftMs: number
}

/** Throws `UpstreamFailure` if the provider has no usable answer, is resting, is late or returns outdated data. */
export async function askOne<Query, Data>(
  { clock, options, provider, leftMs }: AskedProvider<Query, Data>,
  query: Query,
): Promise<ProviderAnswer<Data>> {
  const why = provider.whyUnavailable()
  if (why !== undefined) throw new UpstreamFailure('resting', why)
  if (leftMs <= 0) throw new UpstreamFailure('timeout', `no time is left for ${provider.name}`)
  // Do not abort a slower provider: the request ends by the provider's own time-out, and a late answer is ignored.
  const observation = await waitWithin(clock, leftMs, provider.ask(query))
  if (observation === undefined) throw new UpstreamFailure('timeout', `no answer within ${leftMs} ms`)
  const ageMs = clock.nowMs() - observation.asOfMs
  if (!(ageMs <= options.ageMaxMs && ageMs >= -(options.aheadMaxMs ?? aheadMaxMsDefault)))
    throw new UpstreamFailure('incomplete', `${provider.name} answered with outdated data`)
  const nowMs = clock.nowMs()
  const heldMs = Math.max(0, nowMs - (observation.fetchedAtMs ?? nowMs))
  return { observation, provider: provider.name, fetchedAtMs: clock.monotonicMs() - heldMs }
}
