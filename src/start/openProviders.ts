import packageJson from '../../package.json' with { type: 'json' }
import type { ProviderSettings } from '../config/providerSettings.ts'
import type { ProviderDeps } from '../endpoints/providers/provider.ts'
import { type ChatServer, createChatServer } from '../outbound/chatServer.ts'
import { createReadFeed, type ReadFeed } from '../outbound/readFeed.ts'
import { createUpstream, type UpstreamDeps } from '../outbound/upstream.ts'
import type { PartDeps } from './partDeps.ts'

/** Access to the providers of data, prices, headlines and chat, under our name and the operator's. */
export interface Providers {
  readonly data: ProviderDeps
  readonly readFeed: ReadFeed
  /** In the order in which they are asked. */
  readonly chatServers: readonly ChatServer[]
  readonly newsFeeds: ProviderSettings['newsFeeds']
}

export function openProviders(settings: ProviderSettings, { clock, log, metrics }: PartDeps): Providers {
  const { upstreams, sampleUpstreams, contact } = settings
  const { version } = packageJson
  const callerDeps = { clock, log, contact, version, onCall: metrics.onUpstreamCall }
  return {
    data: { clock, log, upstreams, sampleUpstreams, openUpstream: (options) => createUpstream(callerDeps, options) },
    readFeed: createReadFeed(callerDeps),
    chatServers: openChatServers(settings, callerDeps),
    newsFeeds: settings.newsFeeds,
  }
}

/** Chat servers share nine tenths of a handler's time, so that the last one can also fail with our message in time. */
function openChatServers(settings: ProviderSettings, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers, aiOutputTokensMax: outputTokensMax, handlerTimeoutMs } = settings
  const timeoutMs = Math.floor((handlerTimeoutMs * 0.9) / Math.max(1, aiServers.length))
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, outputTokensMax, timeoutMs }),
  )
}
