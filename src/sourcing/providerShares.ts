import type { Clock } from '@tollbook/core/clock'
import type { PaceLimit } from '../outbound/pace.ts'
import { UpstreamFailure } from '../product/upstreamFailure.ts'
import type { OpenSharedCount, Provider } from './provider.ts'

export interface ProviderSharesDeps {
  readonly clock: Clock
  /** Opens a counter over all instances. Absent: this is the only instance. */
  readonly openSharedCount?: OpenSharedCount
}

export interface Lookup {
  readonly buyer: string | undefined
  readonly isListed: boolean
}

export type ProviderShares<Query, Data> = (lookup: Lookup) => readonly Provider<Query, Data>[]

const windowMs = 60_000
// Reserve half of the pace for items that exist, because an unspent payment permits any number of lookups of unknown
// items.
const unlistedShare = 1 / 2

/**
 * Divides the request rate of each provider between callers. Items that are not known to exist may use half of the
 * rate, for all callers together.
 */
export function createProviderShares<Query, Data>(
  deps: ProviderSharesDeps,
  providers: readonly Provider<Query, Data>[],
): ProviderShares<Query, Data> {
  const shared = providers.map((provider) => shareOf(deps, provider))
  return (lookup) => shared.map((share) => share(lookup))
}

interface Taken extends Lookup {
  readonly atMs: number
}

function shareOf<Query, Data>(
  { clock, openSharedCount }: ProviderSharesDeps,
  provider: Provider<Query, Data>,
): (lookup: Lookup) => Provider<Query, Data> {
  const { name, pace } = provider
  if (pace === undefined) return () => provider
  const max = lookupsPerWindow(pace)
  const all = openSharedCount?.(name, max)
  // Lookups of the last minute. The length is bounded by the provider's limit.
  const taken: Taken[] = []
  const whyRefused = (lookup: Lookup): string | undefined => {
    const sinceMs = clock.monotonicMs() - windowMs
    while ((taken[0]?.atMs ?? Infinity) <= sinceMs) taken.shift()
    return whyBeyondShare(taken, lookup, max)
  }
  return (lookup) => ({
    ...provider,
    whyUnavailable: () => provider.whyUnavailable() ?? whyRefused(lookup),
    ask(query) {
      if (all?.take() === false)
        throw new UpstreamFailure('resting', `all instances together have asked ${name} as often as it allows`)
      taken.push({ ...lookup, atMs: clock.monotonicMs() })
      return provider.ask(query)
    },
  })
}

function lookupsPerWindow({ requests, perSeconds }: PaceLimit): number {
  return Math.max(1, Math.floor((requests * windowMs) / (perSeconds * 1_000)))
}

function whyBeyondShare(taken: readonly Taken[], { buyer, isListed }: Lookup, max: number): string | undefined {
  const own = taken.filter((one) => one.buyer === buyer).length
  const left = max - taken.length
  if (buyer !== undefined && own > 0 && own >= left)
    return 'this wallet has used its share of what the provider allows; repeat in a minute'
  const unlisted = taken.filter((one) => !one.isListed).length
  return isListed || unlisted < Math.max(1, Math.floor(max * unlistedShare))
    ? undefined
    : 'items that are not listed have used their share of what the provider allows; repeat in a minute'
}
