import type { DeliveryConfig } from '../../config/deliveryConfig.ts'
import { openRenderer, type RenderAttempt } from '../../rendering/openRenderer.ts'
import { openRenderWorker } from '../../rendering/openRenderWorker.ts'
import { openSeparateEngines } from '../../rendering/separateEngines.ts'
import { artifactRoute } from '../../routes/artifactRoute.ts'
import { closePart } from '../closePart.ts'
import type { PartDeps } from '../partDeps.ts'
import { openArtifacts } from './openArtifacts.ts'

export interface PagesDeps extends Pick<PartDeps, 'clock' | 'log' | 'metrics'> {
  /** Returns the base URL for callers. A function, because the port is known only at the end of the start. */
  readonly serviceUrl: () => string
}

export type Pages = Awaited<ReturnType<typeof openPages>>

export async function openPages({ artifacts: storage, render }: DeliveryConfig, deps: PagesDeps) {
  const { clock, log, serviceUrl } = deps
  await using opened = new AsyncDisposableStack()
  const artifacts = opened.adopt(await openArtifacts(storage, deps), closePart)
  const { chromiumPath, allowHosts, denyHosts } = render
  const workerConfig = { chromiumPath, allowHosts: [...allowHosts], denyHosts: [...denyHosts] }
  const openEngine = () => openSeparateEngines(() => openRenderWorker({ clock, log, config: workerConfig }))
  const onAttempt = (attempt: RenderAttempt) => log.debug({ event: 'page_attempt_ended', ...attempt })
  const renderer = opened.adopt(await openRenderer({ ...render, clock, openEngine, onAttempt }), closePart)
  const checks = [
    { name: 'rendering', problem: renderer.problem, someProductsOnly: true },
    { name: 'artifacts', problem: artifacts.whyUnavailable, someProductsOnly: true },
  ]
  const artifactUrl = (name: string) => `${serviceUrl()}/artifacts/${name}`
  const parts = opened.move()
  return {
    needs: { clock, renderer, artifacts, artifactUrl, allowHosts: renderer.allowHosts },
    routes: [artifactRoute(artifacts, { clock, log })],
    // With a concurrency of 0 this instance sells no captures, so the checks do not apply.
    checks: render.concurrency === 0 ? [] : checks,
    close: () => parts.disposeAsync(),
  }
}
