import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { type Catalog, createCatalog } from './endpoints/catalog.ts'
import { repeat } from './jobs/repeat.ts'
import { type ArtifactStore, createArtifactStore } from './outbound/artifacts/artifactStore.ts'
import { openDiskShelf } from './outbound/artifacts/diskShelf.ts'
import { openS3Shelf } from './outbound/artifacts/s3Shelf.ts'
import { openEgress } from './outbound/browser/openEgress.ts'
import { openRenderer } from './outbound/browser/openRenderer.ts'
import { createUpstream, type UpstreamDeps } from './outbound/upstream.ts'
import type { Clock } from './primitives/clock.ts'
import type { Log } from './primitives/log.ts'

export interface ProductsDeps {
  readonly clock: Clock
  readonly log: Log
  readonly onUpstreamCall: UpstreamDeps['onCall']
  /** Where callers reach us; asked when an artifact is made, because the port is known last. */
  readonly publicUrl: () => string
}

export interface Products extends Catalog {
  readonly artifacts: ArtifactStore
}

const sweepEveryMs = 60_000

/** The products with everything they reach outside: providers, browsers, storage. */
export async function openProducts(config: Config, deps: ProductsDeps): Promise<Products> {
  const { upstreams, sampleUpstreams, contact, render } = config
  const { clock, log, onUpstreamCall, publicUrl } = deps
  await using opened = new AsyncDisposableStack()
  const artifacts = await openArtifacts(config, { clock, log, opened })
  const renderer = await openRenderer({ ...render, clock, log, egress: openEgress(render) })
  opened.defer(() => renderer.close())
  const upstreamDeps = { clock, log, contact, version: packageJson.version, onCall: onUpstreamCall }
  const catalog = createCatalog({
    clock,
    log,
    upstreams,
    sampleUpstreams,
    openUpstream: (options) => createUpstream(upstreamDeps, options),
    renderer,
    artifacts,
    artifactUrl: (name) => `${publicUrl()}/artifacts/${name}`,
    allowHosts: render.allowHosts,
  })
  opened.defer(() => catalog.close())
  const kept = opened.move()
  return { ...catalog, artifacts, close: () => kept.disposeAsync() }
}

interface Opening {
  readonly clock: Clock
  readonly log: Log
  readonly opened: AsyncDisposableStack
}

async function openArtifacts(config: Config, { clock, log, opened }: Opening): Promise<ArtifactStore> {
  const { s3, directory, ttlMs } = config.artifacts
  const bucket = s3 === undefined ? undefined : openS3Shelf(s3)
  if (bucket !== undefined) opened.defer(() => bucket.close())
  const shelf = bucket ?? (await openDiskShelf({ directory: directory ?? 'artifacts', nowMs: clock.nowMs }))
  const artifacts = createArtifactStore({ clock, log, shelf, ttlMs })
  const sweeping = repeat({ clock, log }, { name: 'artifacts', everyMs: sweepEveryMs, run: () => artifacts.sweep() })
  opened.defer(() => sweeping.stop())
  return artifacts
}

/** Where we are reached when the operator does not say. A host that stands for all addresses is none to fetch from. */
export function listeningUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
