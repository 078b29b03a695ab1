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
  /** The limits of callers apply to health checks only above a rate that no monitor reaches. */
  readonly isProbe?: true
  /** Absent: the usual form of the service. */
  readonly errorForm?: ErrorForm
  serve(facts: FreeRequest): Promise<FreeAnswer>
  /** Absent: POST is refused. */
  readonly post?: (action: FreeAction) => Promise<FreeAnswer>
  readonly remove?: (facts: FreeRequest) => Promise<FreeAnswer>
}

export interface FreeAction extends FreeRequest {
  readonly body: Readonly<Record<string, unknown>>
}

/** Each route parses the values that it uses. */
export interface FreeRequest {
  /** The client's address: that of the connection, or the address that trusted proxies report. */
  readonly address: string
  /** As sent. Empty if the route has an exact path. */
  readonly segment: string
  /** As sent, without its question mark. */
  readonly query: string
  /** A name or an address with an optional port. Empty if the header is missing. */
  readonly host: string
  readonly requestId: string
  /** Undefined if the header is missing or blank. */
  header(name: string): string | undefined
  /** True for a person with a browser, who prefers HTML to JSON. */
  readonly prefersHtml?: boolean
  /** For a route that stores a quote or queries the chain. */
  readonly limits: Pick<Pass, 'limitQuotes' | 'limitLookups'>
}

export interface FreeAnswer extends Omit<Answer, 'body'> {
  /**
   * Text, bytes and streams are sent unchanged, except errors, which get the error form of the route. A public body has
   * an entity tag and compressed forms. A file supports ranges.
   */
  readonly body: string | Buffer | Readable | PublicBody | FileBody
}

/** A check reports a state that is already in memory, and never waits. */
export interface HealthCheck {
  readonly name: string
  /** The problem in words for operators and callers. Undefined if the check passes. */
  problem(): string | undefined
  /**
   * A failure stops no paid request, and at most new quotes. The service stays ready, because callers who have paid
   * must reach it: if all instances became unreachable at once, paid proofs could become too old.
   */
  readonly quotesOnly?: boolean
  /** Checks whose failure also makes this check fail. While one of them fails, this check is muted. */
  readonly causes?: readonly string[]
  /** Undefined if no failing check mutes this one. */
  readonly mutedBy?: () => string | undefined
  readonly facts?: () => Json
  /**
   * A failure stops only some products or payment methods. The health is then `degraded`, and the service stays ready
   * and healthy for the others.
   */
  readonly someProductsOnly?: boolean
}
