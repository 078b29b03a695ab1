import type { Readable } from 'node:stream'
import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import { describeError } from '@tollbook/core/fault'
import type { Log } from '../primitives/log.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { Pass } from './callerLimits.ts'
import type { Metrics } from './metrics.ts'
import { publicJson } from './publicAnswer.ts'
import type { PublicBody } from './publicBody.ts'
import { createPublicDocument, createPublicText, type DatedFacts } from './publicDocument.ts'
import type { FileBody } from './sendConditionally.ts'
import { shareReading } from './shareReading.ts'
import { pathNotFound } from './transportError.ts'

/** A route that costs nothing and needs no wallet. */
export interface FreeRoute {
  /** Exact, or with one last segment that varies, or several: `/artifacts/:name`, `/tile/*path`. */
  readonly path: string
  /** A health check: answered outside of the limits. */
  readonly isProbe?: true
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
  /** More for the operator than whether it is well. */
  readonly facts?: () => Json
  /** A failure stops some products or ways to pay only: the health is degraded, and the service stays ready and healthy for all others. */
  readonly someProductsOnly?: boolean
}

export interface FreeRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  readonly metrics: Metrics
  readonly checks: readonly HealthCheck[]
  readonly isDraining: () => boolean
  readonly tokenPrice: () => Json | undefined
  readonly burnStats: () => Promise<DatedFacts>
  /** Public keys of receipts, as a JWK set. */
  readonly receiptKeys: () => Json
  /** The same keys as a DID document. */
  readonly didDocument: () => Json
  readonly mayReadMetrics: (address: string) => boolean
}

/** Routes that every instance serves. Burn statistics are shared by all requests of a short time. */
export function createFreeRoutes(deps: FreeRouteDeps): readonly FreeRoute[] {
  const { clock } = deps
  const renderStats = createPublicDocument()
  const readStats = shareReading({
    clock,
    ageMaxMs: burnStatsAgeMaxMs,
    read: async () => renderStats(await deps.burnStats()),
  })
  const publicKeys = (read: () => Json) => {
    const render = createPublicText()
    return async () => {
      const keys = canonicalJson(read())
      return publicJson(await render(keys, () => keys), receiptKeysCache)
    }
  }
  return [
    { path: '/api/health', serve: () => Promise.resolve(health(deps)) },
    { path: '/api/token/price', serve: () => Promise.resolve(tokenPrice(deps)) },
    { path: '/api/token/burn-stats', serve: () => burnStats(deps, readStats) },
    { path: '/.well-known/jwks.json', serve: publicKeys(deps.receiptKeys) },
    { path: '/.well-known/did.json', serve: publicKeys(deps.didDocument) },
    { path: '/livez', isProbe: true, serve: () => Promise.resolve(jsonAnswer(200, '{"status":"alive"}')) },
    { path: '/readyz', isProbe: true, serve: () => Promise.resolve(readiness(deps)) },
    { path: '/metrics', isProbe: true, serve: ({ address }) => metrics(deps, address) },
  ]
}

// A new key is listed at least this long before it signs, unless the operator asks for less (settingChange.ts).
const receiptKeysCache = 'public, max-age=300'
// Each reading walks through 90 days of hours: 2,160 rows.
const burnStatsAgeMaxMs = 1_000
const burnStatsCache = 'public, max-age=1'

function health({ clock, version, checks, isDraining }: FreeRouteDeps): Answer {
  const results = checks.map((check) => ({ ...check, problem: check.problem() }))
  const failing = results.filter(({ problem }) => problem !== undefined)
  const sells = failing.every(({ someProductsOnly }) => someProductsOnly === true) && !isDraining()
  const states = results.map(({ name, problem, facts }): [string, Json] => {
    const state = problem === undefined ? { status: 'ok' } : { status: 'failing', problem }
    return [name, facts === undefined ? state : { ...state, facts: facts() }]
  })
  const data: Json = {
    status: isDraining() ? 'draining' : failing.length === 0 ? 'ok' : 'degraded',
    version,
    checks: Object.fromEntries(states),
    time: isoTime(clock.nowMs()),
  }
  return envelope(sells ? 200 : 503, data)
}

function tokenPrice({ tokenPrice: read }: FreeRouteDeps): Answer {
  const price = read()
  if (price !== undefined) return envelope(200, price)
  const body = {
    error: 'the token has no current price, so nothing is sold; try again in 5 s',
    code: 'ENDPOINT_UNAVAILABLE',
  }
  return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '5' })
}

async function burnStats({ log }: FreeRouteDeps, read: () => Promise<PublicBody>): Promise<FreeAnswer> {
  try {
    return publicJson(await read(), burnStatsCache)
  } catch (error) {
    log.warn({ event: 'burn_stats_failed', error: describeError(error) })
    const body = { error: 'the ledger did not answer; try again in 2 s', code: 'ENDPOINT_UNAVAILABLE' }
    return jsonAnswer(503, JSON.stringify(body), { 'retry-after': '2' })
  }
}

/** Whether callers who have paid are served. */
export function readiness({ checks, isDraining }: Pick<FreeRouteDeps, 'checks' | 'isDraining'>): Answer {
  const failing = checks
    .filter(({ quotesOnly, someProductsOnly }) => quotesOnly !== true && someProductsOnly !== true)
    .filter((check) => check.problem() !== undefined)
    .map(({ name }) => name)
  const ready = failing.length === 0 && !isDraining()
  return jsonAnswer(ready ? 200 : 503, JSON.stringify({ status: ready ? 'ready' : 'not ready', failing }))
}

/** Open to the operator's own network only: load and failures are not for the public. */
async function metrics(deps: FreeRouteDeps, address: string): Promise<Answer> {
  return deps.mayReadMetrics(address) ? collectMetrics(deps) : pathNotFound()
}

/** Metrics in the Prometheus text format. Never cached: a stored copy would look like a service that stands still. */
export async function collectMetrics({ metrics: { registry } }: Pick<FreeRouteDeps, 'metrics'>): Promise<Answer> {
  return {
    status: 200,
    headers: { 'content-type': registry.contentType, 'cache-control': 'no-store' },
    body: await registry.metrics(),
  }
}

function envelope(status: number, data: Json): Answer {
  return jsonAnswer(status, JSON.stringify({ success: status === 200, data }))
}
