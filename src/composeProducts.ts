import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { type Catalog, createCatalog } from './endpoints/catalog.ts'
import { type ChatServer, createChatServer } from './outbound/chatServer.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import type { Clock } from './primitives/clock.ts'
import type { Log } from './primitives/log.ts'

export interface ProductsDeps {
  readonly clock: Clock
  readonly log: Log
  readonly onUpstreamCall: UpstreamDeps['onCall']
}

/** The products with everything they reach outside: providers, browsers, storage. */
export function openProducts(config: Config, { clock, log, onUpstreamCall }: ProductsDeps): Catalog {
  const { upstreams, sampleUpstreams, contact } = config
  const upstreamDeps = { clock, log, contact, version: packageJson.version, onCall: onUpstreamCall }
  return createCatalog({
    clock,
    log,
    upstreams,
    sampleUpstreams,
    chatServers: openChatServers(config, upstreamDeps),
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  })
}

/** They share nine tenths of a handler's time, so that the last one too can fail in words of ours before it is up. */
function openChatServers(config: Config, deps: UpstreamDeps): readonly ChatServer[] {
  const { aiServers, aiOutputTokensMax: outputTokensMax, handlerTimeoutMs } = config
  const timeoutMs = Math.floor((handlerTimeoutMs * 0.9) / Math.max(1, aiServers.length))
  return aiServers.map((server, index) =>
    createChatServer(deps, { ...server, label: `ai-${index + 1}`, outputTokensMax, timeoutMs }),
  )
}
