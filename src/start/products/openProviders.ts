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
import { createUpstream, type UpstreamDeps } from '../../outbound/upstream.ts'
import type { PaymentTerms } from '../../payment/settlement.ts'
import { checkProviderTerms } from './acceptedTerms.ts'
import type { PartDeps } from '../partDeps.ts'
import type { SoldProducts } from './soldProducts.ts'

/** Access to the providers of data, prices, headlines and chat, with the names of Tollbook and of the operator. */
export interface Providers {
  readonly data: ProviderDeps
  readonly readFeed: ReadFeed
  /** Chat servers in the order of their use. */
  readonly chatServers: readonly ChatServer[]
  readonly chatLimits: ChatLimits
  readonly newsFeeds: ProviderConfig['newsFeeds']
}

/** The providers of the configuration, and their samples in local mode. */
export interface AllProviders {
  readonly providers: Providers
  /** Samples for products of which no provider answers. */
  readonly standIns: Providers | undefined
}

export interface ProvidersDeps extends PartDeps {
  readonly sold: SoldProducts
  /** The chain on which callers pay. */
  readonly terms: Pick<PaymentTerms, 'network'>
  readonly lookups: Pick<LookupCounts, 'open'>
  /** Sample servers on loopback, which local mode starts. */
  readonly samples: ProviderAddresses | undefined
  /** Hosts that feeds may or must not use, in addition to the public web. */
  readonly hosts: Pick<DeliveryConfig['render'], 'allowHosts' | 'denyHosts'>
}

/** Opens the providers. Throws a `Fault` on mainnet if a product uses a provider whose terms are not accepted. */
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
      // Do not share the lookup counts of samples, because they belong to one instance.
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

/** Longest pause within a streamed reply, 5 s of the default time. After a longer pause, the model counts as stopped. */
function silentMsMaxOf({ handlerTimeoutMs }: Pick<ProviderConfig, 'handlerTimeoutMs'>): number {
  return Math.floor(handlerTimeoutMs / 6)
}

/** Limits of chat. A streamed reply must end before the time after which it counts as broken. */
function chatLimitsOf(config: ProviderConfig): ChatLimits {
  const { aiOutputTokensMax: outputTokensMax, aiModelPrices: modelPrices } = config
  return { outputTokensMax, modelPrices, streamMsMax: chatMsMaxOf(config), silentMsMax: silentMsMaxOf(config) }
}

/**
 * Opens the chat servers. They share nine tenths of a handler's time, so that a failure of the last one is still
 * reported in time.
 */
function openChatServers(config: ProviderConfig, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers } = config
  const timeoutMs = Math.floor(chatMsMaxOf(config) / Math.max(1, aiServers.length))
  const silentMsMax = silentMsMaxOf(config)
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, timeoutMs, silentMsMax }),
  )
}
