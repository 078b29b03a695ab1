import type { Clock } from '@tollbook/core/clock'
import { baseUrlOf, type UpstreamConfigs, type UpstreamName } from '../product/upstreamName.ts'
import type { PaceLimit } from './pace.ts'
import type { Upstream, UpstreamOptions } from './upstream.ts'

/** Access to services whose public addresses the code names and the operator may replace. */
export interface UpstreamAccess {
  readonly clock: Clock
  readonly upstreams: UpstreamConfigs
  /** True if the upstreams are the loopback samples of local mode. `meta.source` then says so. */
  readonly sampleUpstreams: boolean
  readonly openUpstream: (options: UpstreamOptions) => Upstream
}

// Pace for an operator's address. A relay, a replacement or a paid plan has its own limit, so this one only prevents
// flooding.
const ownAddressPace: PaceLimit = { requests: 300, perSeconds: 60 }

/** Opens a provider at its public address with its published limit, or at the operator's address. */
export function openUpstreamOf(
  { upstreams, openUpstream }: Pick<UpstreamAccess, 'upstreams' | 'openUpstream'>,
  setting: UpstreamName,
  { publicBase, pace, ...options }: Omit<UpstreamOptions, 'base' | 'pace'> & PublicAddress,
): Upstream {
  const own = upstreams[setting]
  return openUpstream({
    ...options,
    base: baseUrlOf(own, publicBase),
    pace: own?.url === undefined ? pace : ownAddressPace,
  })
}

interface PublicAddress {
  readonly publicBase: string
  /** The published limit of that address, or less. */
  readonly pace: PaceLimit
}

/** Returns the members of a provider that its upstream supplies. */
export function ofUpstream({ name, pace, whyResting }: Upstream) {
  return { name, pace, whyUnavailable: whyResting }
}
