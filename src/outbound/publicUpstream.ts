import type { Clock } from '@tollbook/core/clock'
import type { UpstreamConfig, UpstreamConfigs, UpstreamName } from '../product/providerTerms.ts'
import type { PaceLimit } from './pace.ts'
import type { Upstream, UpstreamOptions } from './upstream.ts'

/** The public addresses of providers are in the code, and the operator can replace each address. */
export interface UpstreamAccess {
  readonly clock: Clock
  readonly upstreams: UpstreamConfigs
  /** True if the upstreams are the loopback samples of local mode. `meta.source` then starts with `sample:`. */
  readonly sampleUpstreams: boolean
  readonly openUpstream: (options: UpstreamOptions) => Upstream
}

// A relay, a replacement or a paid plan has a separate limit, so this pace only prevents flooding.
const ownAddressPace: PaceLimit = { requests: 300, perSeconds: 60 }

/** An address that the operator has set is used with `ownAddressPace` instead of the published limit. */
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
  /** The published limit of the public address, or a lower limit. */
  readonly pace: PaceLimit
}

export function ofUpstream({ name, pace, whyResting }: Upstream) {
  return { name, pace, whyUnavailable: whyResting }
}

/**
 * If the operator's address has no path, it replaces only the host. A relay or test server can thus be configured
 * without knowing the provider's paths.
 */
export function baseUrlOf(setting: UpstreamConfig | undefined, publicBase: string): URL {
  const base = new URL(publicBase)
  if (setting?.url === undefined) return base
  const given = new URL(setting.url)
  if (given.pathname === '/') given.pathname = base.pathname
  return given
}
