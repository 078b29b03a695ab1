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
  /** True for a health check. The limits of callers do not apply to health checks. */
  readonly isProbe?: true
  /** Form of the errors. Absent: the usual form of the service. */
  readonly errorForm?: ErrorForm
  serve(facts: FreeRequest): Promise<FreeAnswer>
  /** Serves POST requests. Absent: the route is read-only. */
  readonly post?: (action: FreeAction) => Promise<FreeAnswer>
  readonly remove?: (facts: FreeRequest) => Promise<FreeAnswer>
}

export interface FreeAction extends FreeRequest {
  readonly body: Readonly<Record<string, unknown>>
}

/** A free request with its unparsed values. Each route parses the values that it uses. */
export interface FreeRequest {
  /** Address of the client, as reported by trusted proxies. */
  readonly address: string
  /** The variable part of the path, as sent. Empty if the route has an exact path. */
  readonly segment: string
  /** The query string as sent, without its question mark. */
  readonly query: string
  /** Value of the Host header: a name or an address with an optional port. Empty if the header is missing. */
  readonly host: string
  readonly requestId: string
  /** Returns a request header. Undefined if the header is missing or blank. */
  header(name: string): string | undefined
  /** True if the caller is a person with a browser, who prefers HTML to JSON. */
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

/** A check of `/api/health`. It reports a state that is already in memory, and never waits. */
export interface HealthCheck {
  readonly name: string
  /** Returns the problem, in words for operators and callers. Undefined if the check passes. */
  problem(): string | undefined
  /**
   * True if a failure stops only new quotes. The service then stays ready, because callers who have paid must reach it.
   * If all instances became unreachable at once, paid proofs could become too old.
   */
  readonly quotesOnly?: boolean
  /** Names of checks whose failure also makes this check fail. While one of them fails, this check is muted. */
  readonly causes?: readonly string[]
  /** Returns the name of the failing check that mutes this one. Undefined if none does. */
  readonly mutedBy?: () => string | undefined
  readonly facts?: () => Json
  /**
   * True if a failure stops only some products or payment methods. The health is then `degraded`, and the service stays
   * ready and healthy for the others.
   */
  readonly someProductsOnly?: boolean
}
