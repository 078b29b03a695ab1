import { canonicalJson, type Json } from '@tollbook/core/canonicalJson'
import { type Clock, isoTime } from '@tollbook/core/clock'
import type { Log } from '../machine/log.ts'
import { type Answer, jsonAnswer } from '../paywall/answer.ts'
import type { FreeRoute, HealthCheck } from '../transport/freeRoute.ts'
import type { Metrics } from '../transport/metrics.ts'
import { publicJson } from '../transport/publicAnswer.ts'
import { createPublicDocument, createPublicText, type DatedFacts } from '../transport/publicDocument.ts'
import { shareReading } from '../transport/shareReading.ts'
import { pathNotFound } from '../transport/transportError.ts'
import { unavailable, unlessSilent } from './unlessSilent.ts'

export interface FreeRouteDeps {
  readonly clock: Clock
  readonly log: Log
  readonly version: string
  readonly metrics: Metrics
  readonly checks: readonly HealthCheck[]
  readonly isDraining: () => boolean
  readonly tokenPrice: () => Json | undefined
  readonly burnStats: () => Promise<DatedFacts>
  /** Returns the public keys of receipts, as a JWK set. */
  readonly receiptKeys: () => Json
  readonly didDocument: () => Json
  readonly mayReadMetrics: (address: string) => boolean
}

/**
 * Creates the free routes of health, token and keys. Requests within one second share one reading of the burn
 * statistics.
 */
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
    {
      path: '/api/token/burn-stats',
      serve: () =>
        unlessSilent({ log: deps.log, event: 'burn_stats_failed' }, async () =>
          publicJson(await readStats(), burnStatsCache),
        ),
    },
    { path: '/.well-known/jwks.json', serve: publicKeys(deps.receiptKeys) },
    { path: '/.well-known/did.json', serve: publicKeys(deps.didDocument) },
    { path: '/livez', isProbe: true, serve: () => Promise.resolve(jsonAnswer(200, '{"status":"alive"}')) },
    { path: '/readyz', isProbe: true, serve: () => Promise.resolve(readiness(deps)) },
    { path: '/metrics', isProbe: true, serve: ({ address }) => metrics(deps, address) },
  ]
}

// Time for which clients may cache the keys. A new key is listed at least this long before it signs, unless the
// operator sets a shorter time (settingChange.ts).
const receiptKeysCache = 'public, max-age=300'
// Milliseconds for which requests share one reading, because a reading covers 90 days of hours.
const burnStatsAgeMaxMs = 1_000
const burnStatsCache = 'public, max-age=1'

function health({ clock, version, checks, isDraining }: FreeRouteDeps): Answer {
  const results = checks.map((check) => ({ ...check, problem: check.problem() }))
  const failing = results.filter(({ problem }) => problem !== undefined)
  const sells = failing.every(({ someProductsOnly }) => someProductsOnly === true) && !isDraining()
  const states = results.map(({ name, problem, facts, mutedBy }): [string, Json] => {
    const cause = mutedBy?.()
    const well = cause === undefined ? { status: 'ok' } : { status: 'unknown', cause }
    const state = problem === undefined ? well : { status: 'failing', problem }
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
  return price === undefined
    ? unavailable('the token has no current price, so nothing is sold; try again in 5 s', 5)
    : envelope(200, price)
}

/**
 * Answers 200 if the service can serve callers who have paid, and 503 otherwise. Therefore it ignores checks that stop
 * only quotes or some products.
 */
export function readiness({ checks, isDraining }: Pick<FreeRouteDeps, 'checks' | 'isDraining'>): Answer {
  const failing = checks
    .filter(({ quotesOnly, someProductsOnly }) => quotesOnly !== true && someProductsOnly !== true)
    .filter((check) => check.problem() !== undefined)
    .map(({ name }) => name)
  const ready = failing.length === 0 && !isDraining()
  return jsonAnswer(ready ? 200 : 503, JSON.stringify({ status: ready ? 'ready' : 'not ready', failing }))
}

/** Serves metrics to the operator's own network only, because load and failures are not public. */
async function metrics(deps: FreeRouteDeps, address: string): Promise<Answer> {
  return deps.mayReadMetrics(address) ? collectMetrics(deps) : pathNotFound()
}

/**
 * Returns the metrics in the Prometheus text format. The answer must not be cached, because a stored copy would look
 * like a service that has stopped.
 */
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
