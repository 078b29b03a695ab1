import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { RenderFailure, type RenderFailureKind, type Rendered, type Renderer } from '../../rendering/renderer.ts'
import type { ArtifactStore } from '../../rendering/artifacts/artifactStore.ts'
import type { HandlerFailure, Meta, Outcome } from '../../product/product.ts'

/** The parts of the process that both browser products need. */
export interface RenderDeps {
  readonly clock: Clock
  readonly renderer: Renderer
  readonly artifacts: Pick<ArtifactStore, 'keep' | 'whyUnavailable'>
  /** Returns the absolute address of an artifact. */
  readonly artifactUrl: (name: string) => string
  /** Hosts that are not public but that the operator allows as targets. */
  readonly allowHosts: readonly string[]
}

interface RenderedAnswer {
  readonly data: { readonly [field: string]: Json }
  readonly expiresAt: string
}

/** Refuses a quote while the queue is long. A caller who has paid waits. */
export function availabilityOf({ renderer, artifacts }: RenderDeps) {
  return {
    whyUnavailable: (_order?: unknown, payer?: string) => renderer.whyNoQuote(payer) ?? artifacts.whyUnavailable(),
    whyUndeliverable: () => renderer.whyUnavailable() ?? artifacts.whyUnavailable(),
  }
}

/** Renders a page, stores the result with `keep`, and converts failures of the browser into failures of the product. */
export async function renderOutcome(
  clock: Clock,
  render: () => Promise<Rendered>,
  keep: (bytes: Uint8Array) => Promise<RenderedAnswer>,
): Promise<Outcome> {
  try {
    const rendered = await render()
    const { data, expiresAt } = await keep(rendered.bytes)
    return { kind: 'delivered', data, meta: { ...metaOf(rendered, clock), expiresAt } }
  } catch (error) {
    if (!(error instanceof RenderFailure)) throw error
    return failed(error)
  }
}

function failed({ kind, message, endsPayment }: RenderFailure): Outcome {
  const code = codeOf[kind]
  if (endsPayment) return { kind: 'failed', code, message: `${message}; ${budgetSpent}`, endsPayment }
  return { kind: 'failed', code, message: `${message}; ${adviceOn[kind]}` }
}

const budgetSpent = 'a page that fails in this way uses up the browser time that one payment buys'

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

/**
 * Builds `meta`. `complete` is always present, because it is sold; other members are present only if they differ from
 * the usual case.
 */
function metaOf(rendered: Rendered, clock: Clock): Meta {
  const { httpStatus, finalUrl, missing, missingGlyphs, clipped, refusedRequests } = rendered
  return {
    source: 'tollbook',
    asOf: isoTime(clock.nowMs()),
    cached: false,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(finalUrl === undefined ? {} : { finalUrl }),
    complete: missing.length === 0,
    ...(missing.length === 0 ? {} : { missing: missing.map(({ reason, detail }) => ({ reason, detail })) }),
    ...(missingGlyphs === 0 ? {} : { missingGlyphs }),
    ...(clipped ? { clipped } : {}),
    ...(refusedRequests === 0 ? {} : { refusedRequests }),
  }
}
