import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { type Catalog, createCatalog } from './endpoints/catalog.ts'
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
    openUpstream: (options) => createUpstream(upstreamDeps, options),
  })
}
