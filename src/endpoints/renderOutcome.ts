import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { RenderFailure, type RenderFailureKind, type Rendered, type Renderer } from '../outbound/browser/renderer.ts'
import type { ArtifactStore } from '../outbound/artifacts/artifactStore.ts'
import type { HandlerFailure, Meta, Outcome } from './endpoint.ts'

/** What both products of the browser need. */
export interface RenderDeps {
  readonly clock: Clock
  readonly renderer: Renderer
  readonly artifacts: Pick<ArtifactStore, 'keep' | 'whyUnavailable'>
  /** The absolute address of an artifact. */
  readonly artifactUrl: (name: string) => string
  /** Hosts that a target may name though they are not global. */
  readonly allowHosts: readonly string[]
}

export interface Product {
  readonly data: { readonly [field: string]: Json }
  readonly expiresAt: string
}

/** Renders, has `make` keep the result, and says in the words of an outcome what went wrong. */
export async function renderOutcome(
  clock: Clock,
  render: () => Promise<Rendered>,
  make: (bytes: Uint8Array) => Promise<Product>,
): Promise<Outcome> {
  try {
    const rendered = await render()
    const { data, expiresAt } = await make(rendered.bytes)
    return { kind: 'delivered', data, meta: { ...metaOf(rendered, clock), expiresAt } }
  } catch (error) {
    if (!(error instanceof RenderFailure)) throw error
    return { kind: 'failed', code: codeOf[error.kind], message: `${error.message}; ${adviceOn[error.kind]}` }
  }
}

const codeOf: Record<RenderFailureKind, HandlerFailure> = {
  forbidden: 'TARGET_FORBIDDEN',
  unreachable: 'UPSTREAM_FAILED',
  timeout: 'UPSTREAM_TIMEOUT',
  too_large: 'UPSTREAM_FAILED',
  broken: 'UPSTREAM_FAILED',
}

const adviceOn: Record<RenderFailureKind, string> = {
  forbidden: 'name another page and repeat with the same proof',
  unreachable: 'repeat with the same proof, for another page if you like',
  timeout: 'repeat with the same proof, for another page if you like',
  too_large: 'name a smaller page and repeat with the same proof',
  broken: 'repeat with the same proof',
}

/** Details are there when they say something. */
function metaOf({ httpStatus, finalUrl, complete, clipped, refusedRequests }: Rendered, clock: Clock): Meta {
  return {
    source: 'tollbook',
    asOf: isoTime(clock.nowMs()),
    cached: false,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(finalUrl === undefined ? {} : { finalUrl }),
    ...(complete ? {} : { complete }),
    ...(clipped ? { clipped } : {}),
    ...(refusedRequests === 0 ? {} : { refusedRequests }),
  }
}
