import { assertPresent } from '@tollbook/core/assert'
import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { ProviderAddresses, ProviderConfig } from '../../config/providerConfig.ts'
import { webRules } from '../../outbound/egressRules.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import { createReadFeed, type ReadFeed } from '../../sourcing/readFeed.ts'
import type { LookupCounts } from '../../transport/lookupCounts.ts'
import type { PartDeps } from '../partDeps.ts'
import type { Upstreams } from '../upstreams/openUpstreams.ts'

export interface Providers extends Pick<ProviderAddresses, 'newsFeeds' | 'aiServers'> {
  readonly data: ProviderDeps
  readonly readFeed: ReadFeed
}

export interface ProvidersDeps extends PartDeps {
  readonly upstreams: Upstreams
  readonly lookups: Pick<LookupCounts, 'open'>
  /** Sample servers on loopback, which local mode starts. */
  readonly samples: ProviderAddresses | undefined
  /** Hosts that feeds may use in addition to the public web, and hosts that they must not use. */
  readonly hosts: Pick<DeliveryConfig['render'], 'allowHosts' | 'denyHosts'>
}

/**
 * Opens the providers. If local mode has started samples, also opens samples for products that no provider can answer.
 * In the mode `always`, the samples are the only providers.
 */
export function openProviders(config: ProviderConfig, deps: ProvidersDeps) {
  const { log, upstreams, lookups, samples, hosts } = deps
  const open = (addresses: ProviderAddresses, isSample: boolean): Providers => ({
    data: {
      ...upstreams.accessTo(addresses, isSample),
      log,
      isProbed: config.areProbed,
      // Do not share the lookup counts of samples, because sample servers belong to one instance.
      ...(isSample ? {} : { openSharedCount: lookups.open }),
    },
    readFeed: createReadFeed(upstreams.caller, webRules(hosts.allowHosts, hosts.denyHosts)),
    aiServers: addresses.aiServers,
    newsFeeds: addresses.newsFeeds,
  })
  const sampled = samples && open(samples, true)
  if (config.sampleUpstreams !== 'always') return { providers: open(config, false), standIns: sampled }
  return { providers: assertPresent(sampled, 'local mode has started the samples'), standIns: undefined }
}
