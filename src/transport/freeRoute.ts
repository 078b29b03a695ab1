import type { Readable } from 'node:stream'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Answer } from '../paywall/answer.ts'
import type { ErrorForm } from '../product/productFacts.ts'
import type { Pass } from './callerLimits.ts'
import type { PublicBody } from './publicBody.ts'
import type { FileBody } from './sendConditionally.ts'

/** A route that costs nothing and needs no wallet. */
export interface FreeRoute {
  /** Exact, or with one last segment that varies, or several: `/artifacts/:name`, `/tile/*path`. */
  readonly path: string
  /** A health check: answered outside of the limits. */
  readonly isProbe?: true
  /** Present when the clients of this route read errors of another form. */
  readonly errorForm?: ErrorForm
  serve(facts: FreeRequest): Promise<FreeAnswer>
  /** Answers POST. Absent: the route only reads. */
  readonly post?: (action: FreeAction) => Promise<FreeAnswer>
}

/** A POST to a free route: a small JSON object. */
export interface FreeAction extends FreeRequest {
  readonly body: Readonly<Record<string, unknown>>
}

/** A request that costs nothing, with its values as they were sent. Each route parses its own. */
export interface FreeRequest {
  /** Address of the caller, behind trusted proxies. */
  readonly address: string
  /** The part of the path that the route leaves open, as it was sent; empty when the route is exact. */
  readonly segment: string
  /** The query string without its question mark, as it was sent. */
  readonly query: string
  /** Value of the Host header: a name or an address with an optional port; empty when it is missing. */
  readonly host: string
  readonly requestId: string
  /** A blank header counts as absent. */
  header(name: string): string | undefined
  /** The limits of the caller, for a route that stores a quote or queries the chain. */
  readonly limits: Pick<Pass, 'limitQuotes' | 'limitLookups'>
}

export interface FreeAnswer extends Omit<Answer, 'body'> {
  /** Text, bytes and streams are sent as they are. A public body has an entity tag and compressed forms; a file has ranges. */
  readonly body: string | Buffer | Readable | PublicBody | FileBody
}

/** A check of `/api/health`. It reads a known state and never waits. */
export interface HealthCheck {
  readonly name: string
  /** Undefined when the check passes; otherwise the problem, in words for operators and callers. */
  problem(): string | undefined
  /**
   * A failure stops new quotes only. The service stays ready: callers who have paid must reach it, or a proof could become
   * too old at every instance at once.
   */
  readonly quotesOnly?: boolean
  /** Names of checks whose failure would also fail this one, and then mutes it. */
  readonly causes?: readonly string[]
  /** The check that mutes this one at the moment. */
  readonly mutedBy?: () => string | undefined
  /** More for the operator than whether it is well. */
  readonly facts?: () => Json
  /**
   * A failure stops some products or ways to pay only: the health is degraded, and the service stays ready and healthy
   * for all others.
   */
  readonly someProductsOnly?: boolean
}
