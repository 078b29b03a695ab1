import type { Readable } from 'node:stream'
import type { Json } from '@tollbook/core/canonicalJson'
import type { Answer } from '../paywall/answer.ts'
import type { ErrorForm } from '../product/productFacts.ts'
import type { Pass } from './callerLimits.ts'
import type { PublicBody } from './publicBody.ts'
import type { FileBody } from './sendConditionally.ts'

export interface FreeRoute {
  /** An exact path, or one that ends in one or several variable segments: `/artifacts/:name`, `/tile/*path`. */
  readonly path: string
  /** True for a health check, to which the limits do not apply. */
  readonly isProbe?: true
  /** Present if the clients of this route expect errors in another form. */
  readonly errorForm?: ErrorForm
  serve(facts: FreeRequest): Promise<FreeAnswer>
  /** Answers POST. If absent, the route is read-only. */
  readonly post?: (action: FreeAction) => Promise<FreeAnswer>
  readonly remove?: (facts: FreeRequest) => Promise<FreeAnswer>
}

export interface FreeAction extends FreeRequest {
  readonly body: Readonly<Record<string, unknown>>
}

/** A free request with its unparsed values. Each route parses its own. */
export interface FreeRequest {
  /** Address of the caller, behind trusted proxies. */
  readonly address: string
  /** The variable part of the path, as sent. Empty if the path is exact. */
  readonly segment: string
  /** The query string as sent, without its question mark. */
  readonly query: string
  /** Value of the Host header: a name or an address with an optional port. Empty if the header is missing. */
  readonly host: string
  readonly requestId: string
  /** Returns a request header. A blank header counts as absent. */
  header(name: string): string | undefined
  /** True if the caller is a person with a browser. */
  readonly prefersHtml?: boolean
  /** Limits of the caller, for a route that stores a quote or queries the chain. */
  readonly limits: Pick<Pass, 'limitQuotes' | 'limitLookups'>
}

export interface FreeAnswer extends Omit<Answer, 'body'> {
  /**
   * Text, bytes and streams are sent unchanged. A public body has an entity tag and compressed forms. A file supports
   * ranges.
   */
  readonly body: string | Buffer | Readable | PublicBody | FileBody
}

/** A check of `/api/health`. It reads a known state and never waits. */
export interface HealthCheck {
  readonly name: string
  /** Undefined if the check passes. Otherwise the problem, in words for operators and callers. */
  problem(): string | undefined
  /**
   * True if a failure stops only new quotes. The service stays ready, because callers who have paid must reach it.
   * Otherwise a proof could become too old at every instance at once.
   */
  readonly quotesOnly?: boolean
  /** Names of checks that also make this one fail. A failure of one of them mutes this check. */
  readonly causes?: readonly string[]
  /** Name of the check that currently mutes this one. */
  readonly mutedBy?: () => string | undefined
  readonly facts?: () => Json
  /**
   * True if a failure stops only some products or payment methods. The health is then degraded, and the service stays
   * ready and healthy for all others.
   */
  readonly someProductsOnly?: boolean
}
