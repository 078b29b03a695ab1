import { assertPresent } from '@tollbook/core/assert'
import packageJson from '../../../package.json' with { type: 'json' }
import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import type { ProviderAddresses, ProviderConfig } from '../../config/providerConfig.ts'
import type { ChatLimits } from '../../products/chat/chatTurn.ts'
import type { ProviderDeps } from '../../sourcing/provider.ts'
import type { LookupCounts } from '../../transport/lookupCounts.ts'
import { type ChatServer, createChatServer } from '../../products/chat/server/chatServer.ts'
import { webRules } from '../../outbound/egressRules.ts'
import { createReadFeed, type ReadFeed } from '../../sourcing/readFeed.ts'
import { createUpstream, type UpstreamDeps } from '../../sourcing/upstream.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { checkProviderTerms } from './acceptedTerms.ts'
import type { PartDeps } from '../partDeps.ts'
import type { SoldProducts } from './soldProducts.ts'

/** Access to the providers of data, prices, headlines and chat, under our name and the operator's. */
export interface Providers {
  readonly data: ProviderDeps
  readonly readFeed: ReadFeed
  /** In the order in which they are asked. */
  readonly chatServers: readonly ChatServer[]
  readonly chatLimits: ChatLimits
  readonly newsFeeds: ProviderConfig['newsFeeds']
}

/** The providers of the configuration, and their samples where local mode has them. */
export interface AllProviders {
  readonly providers: Providers
  /** Serve products none of whose providers answers. */
  readonly standIns: Providers | undefined
}

export interface ProvidersDeps extends PartDeps {
  readonly sold: SoldProducts
  /** The chain that is paid on. */
  readonly terms: Pick<PaymentTerms, 'network'>
  readonly lookups: Pick<LookupCounts, 'open'>
  /** Samples on loopback, which local mode starts. */
  readonly samples: ProviderAddresses | undefined
  /** Hosts that feeds may or may not be read from, besides the public web. */
  readonly hosts: Pick<DeliveryConfig['render'], 'allowHosts' | 'denyHosts'>
}

/** Throws a `Fault` on mainnet for a product whose provider has terms that were not accepted. */
export function openProviders(config: ProviderConfig, deps: ProvidersDeps): AllProviders {
  const { clock, log, metrics, sold, terms, lookups, samples, hosts } = deps
  checkProviderTerms({ sold, config, log, network: terms.network })
  const { sampleUpstreams: mode, contact, areProbed: isProbed } = config
  const { version } = packageJson
  const callerDeps = { clock, log, contact, version, onCall: metrics.onUpstreamCall }
  const openUpstream: ProviderDeps['openUpstream'] = (options) => createUpstream(callerDeps, options)
  const open = (addresses: ProviderAddresses, isSample: boolean): Providers => ({
    data: {
      clock,
      log,
      upstreams: addresses.upstreams,
      sampleUpstreams: isSample,
      isProbed,
      openUpstream,
      // Samples belong to one instance.
      ...(isSample ? {} : { openSharedCount: lookups.open }),
    },
    readFeed: createReadFeed(callerDeps, webRules(hosts.allowHosts, hosts.denyHosts)),
    chatServers: openChatServers({ ...config, ...addresses }, callerDeps),
    chatLimits: chatLimitsOf(config),
    newsFeeds: addresses.newsFeeds,
  })
  const sampled = samples && open(samples, true)
  if (mode !== 'always') return { providers: open(config, false), standIns: sampled }
  return { providers: assertPresent(sampled, 'local mode has started the samples'), standIns: undefined }
}

function chatMsMaxOf({ handlerTimeoutMs }: Pick<ProviderConfig, 'handlerTimeoutMs'>): number {
  return Math.floor(handlerTimeoutMs * 0.9)
}

/** A model that pauses for longer within a streamed reply has stopped: 5 s of the default time. */
function silentMsMaxOf({ handlerTimeoutMs }: Pick<ProviderConfig, 'handlerTimeoutMs'>): number {
  return Math.floor(handlerTimeoutMs / 6)
}

/** A streamed reply ends before the time after which it would count as broken. */
function chatLimitsOf(config: ProviderConfig): ChatLimits {
  const { aiOutputTokensMax: outputTokensMax, aiModelPrices: modelPrices } = config
  return { outputTokensMax, modelPrices, streamMsMax: chatMsMaxOf(config), silentMsMax: silentMsMaxOf(config) }
}

/** Chat servers share nine tenths of a handler's time, so that the last one can also fail with our message in time. */
function openChatServers(config: ProviderConfig, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers } = config
  const timeoutMs = Math.floor(chatMsMaxOf(config) / Math.max(1, aiServers.length))
  const silentMsMax = silentMsMaxOf(config)
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, timeoutMs, silentMsMax }),
  )
}
