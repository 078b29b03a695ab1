import packageJson from '../../package.json' with { type: 'json' }
import type { ProviderSettings } from '../config/providerSettings.ts'
import type { ProviderDeps } from '../endpoints/providers/provider.ts'
import { type ChatServer, type ChatServerOptions, createChatServer } from '../outbound/chatServer.ts'
import { createReadFeed, type ReadFeed } from '../outbound/readFeed.ts'
import { createUpstream } from '../outbound/upstream.ts'
import type { PartDeps } from './partDeps.ts'

/** Access to the providers of data, prices, headlines and chat, under our name and the operator's. */
export interface Providers {
  readonly data: ProviderDeps
  readonly readFeed: ReadFeed
  openChatServer(options: ChatServerOptions): ChatServer
}

export function openProviders(settings: ProviderSettings, { clock, log, metrics }: PartDeps): Providers {
  const { upstreams, sampleUpstreams, contact } = settings
  const { version } = packageJson
  const callerDeps = { clock, log, contact, version, onCall: metrics.onUpstreamCall }
  return {
    data: { clock, log, upstreams, sampleUpstreams, openUpstream: (options) => createUpstream(callerDeps, options) },
    readFeed: createReadFeed(callerDeps),
    openChatServer: (options) => createChatServer(callerDeps, options),
  }
}
