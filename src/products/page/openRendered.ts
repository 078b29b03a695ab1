import type { z } from 'zod'
import type { Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { RenderFailure, type RenderFailureKind, type Rendered, type Renderer } from '../../rendering/renderer.ts'
import type { ArtifactType } from '../../rendering/artifacts/artifactName.ts'
import type { ArtifactStore } from '../../rendering/artifacts/artifactStore.ts'
import type { HandlerFailure, Job, Meta, Outcome } from '../../product/product.ts'
import type { ProductHandler } from '../../product/productDefinition.ts'

export interface RenderDeps {
  readonly clock: Clock
  readonly renderer: Renderer
  readonly artifacts: Pick<ArtifactStore, 'keep' | 'whyUnavailable'>
  /** Returns an absolute URL, because callers fetch it. */
  readonly artifactUrl: (name: string) => string
  /** Hosts that are not public but that the operator allows as targets. */
  readonly allowHosts: readonly string[]
}

interface Rendering<Order extends Json> {
  readonly parameters: z.ZodType<Order>
  readonly render: (order: Order, job: Job) => Promise<Rendered>
  readonly contentType: (order: Order) => ArtifactType
  /** Field of the answer that contains the address of the result. The fields of `describe` follow it. */
  readonly urlField: string
  readonly describe: (bytes: Uint8Array, order: Order) => Promise<{ readonly [field: string]: Json }>
}

/** Creates a handler. While the queue is long, it refuses new quotes, but a caller who has paid waits. */
export function openRendered<Order extends Json>(deps: RenderDeps, rendering: Rendering<Order>): ProductHandler<Order> {
  const { renderer, artifacts } = deps
  return {
    parameters: rendering.parameters,
    whyUnavailable: (_order, payer) => renderer.whyNoQuote(payer) ?? artifacts.whyUnavailable(),
    whyUndeliverable: () => renderer.whyUnavailable() ?? artifacts.whyUnavailable({ isPaid: true }),
    deliver: (order, job) => deliver(deps, rendering, { order, job }),
  }
}

async function deliver<Order extends Json>(
  { clock, artifacts, artifactUrl }: RenderDeps,
  { render, contentType, urlField, describe }: Rendering<Order>,
  { order, job }: { readonly order: Order; readonly job: Job },
): Promise<Outcome> {
  try {
    const rendered = await render(order, job)
    // Describe the result before it is stored, so that no file without a description stays in the storage.
    const described = await describe(rendered.bytes, order)
    const { name, expiresAt } = await artifacts.keep(contentType(order), rendered.bytes)
    const data = { [urlField]: artifactUrl(name), ...described }
    return { kind: 'delivered', data, meta: { ...metaOf(rendered, clock), expiresAt } }
  } catch (error) {
    if (!(error instanceof RenderFailure)) throw error
    return failed(error)
  }
}

function failed({ kind, message, endsPayment }: RenderFailure): Outcome {
  const code = codeOf[kind]
  // The same page would use up the browser again, so the payment is owed back instead of tried again.
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

// The proof stays valid after these failures, so a caller can use it for another page.
const adviceOn: Record<RenderFailureKind, string> = {
  forbidden: 'name another page and repeat with the same proof',
  unreachable: 'repeat with the same proof, for another page if you like',
  timeout: 'repeat with the same proof, for another page if you like',
  too_large: 'name a smaller page and repeat with the same proof',
  broken: 'repeat with the same proof',
}

/**
 * Returns the `meta` of a capture. `complete` is always present, because it is part of the sold answer. The members
 * after it are present only if they differ from the usual case.
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
