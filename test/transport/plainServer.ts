import { z } from 'zod'
import { type Clock, systemClock } from '@tollbook/core/clock'
import { createAdmission, type AdmissionRequest } from '../../src/transport/admission.ts'
import { createApp } from '../../src/transport/app.ts'
import { type ConnectionLimits, createConnections } from '../../src/transport/connections.ts'
import { createMetrics } from '../../src/transport/metrics.ts'
import { createCallerLimits } from '../../src/transport/callerLimits.ts'
import { listen } from '../../src/transport/server.ts'
import type { FreeRoute } from '../../src/transport/freeRoute.ts'
import { createTurns } from '../../src/transport/turns.ts'
import { createUnreadAnswers, type UnreadLimits } from '../../src/transport/unreadAnswers.ts'
import { createUploads, type UploadLimits } from '../../src/transport/uploads.ts'
import { createSales } from '../../src/paywall/sales.ts'
import { Serving } from '../../src/paywall/serving.ts'
import { type Log, silentLog } from '../../src/machine/log.ts'
import { scriptedRail } from '../paywall/scriptedRail.ts'
import { afterFile } from '../support/afterFile.ts'
import { openTestEndpoint } from '../support/testProduct.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'

const unused = (): never => {
  throw new Error('nothing is sold here')
}
const sales = createSales({
  clock: systemClock,
  log: silentLog,
  ledger: {
    lookUp: unused,
    listUnreceived: unused,
    append: unused,
    markSent: unused,
    findDelivery: unused,
    recordQuote: unused,
    findOpenQuote: unused,
    findRecentOpenQuote: unused,
    findBoundQuote: unused,
    findPrice: unused,
  },
  rails: [scriptedRail('test'), scriptedRail('other')],
  quoteTtlMs: 1,
  token: defaultTokenNames,
  leaseMs: 1,
  handlerTimeoutMs: 1,
  attemptsMax: 1,
  currentPrice: unused,
  whyClosed: () => 'the service of this test is closed',
  whyNoQuotes: unused,
  whyExposed: unused,
  serving: new Serving(),
  signReceipt: unused,
  onFault: unused,
})

/** `POST /order` takes `{"word": "…"}`. Every well-formed order is answered 503 ENDPOINT_UNAVAILABLE. */
const order = openTestEndpoint({
  path: '/order',
  method: 'POST',
  parameters: z.strictObject({ word: z.string() }),
  deliver: unused,
})

export interface PlainServerOptions {
  readonly freeRoutes?: readonly FreeRoute[]
  /** Requests in progress; each purpose may have half of them. */
  readonly limit?: number
  readonly requestsPerMinute?: number
  readonly trustedProxyHops?: number
  readonly connectionLimits?: ConnectionLimits
  /** Addresses whose connections are left unread. */
  readonly turnsAway?: (address: string) => boolean
  /** Rest of addresses whose requests are refused because of the load that they cause. */
  readonly restSeconds?: (address: string) => number
  /** Whether a connection rests after such a refusal. Not by default. */
  readonly rests?: boolean
  readonly uploadLimits?: UploadLimits
  readonly unreadLimits?: UnreadLimits
  readonly clock?: Clock
  readonly log?: Log
  readonly isDraining?: () => boolean
  /** Called for each request that was parsed. */
  readonly onRequest?: () => void
}

const parkedSeconds = 5
const noLimits = {
  quotesPerAddressMax: 0,
  quotesPerWalletMax: 0,
  openQuotesBytesMax: 0,
  unknownProofsPerMinute: 0,
  quoteTtlMs: 1_000,
}
const megabyte = 1024 * 1024

/** The real listener and application, with nothing to sell and limits that do not adapt. */
export async function openPlainServer(options: PlainServerOptions = {}) {
  const { limit = 100_000, clock = systemClock, trustedProxyHops = 0, restSeconds = () => 0 } = options
  const admission = {
    ...createAdmission({ now: () => performance.now(), limitAtStart: limit, adapt: () => limit }),
    restSeconds,
    // Refuses no flood: many requests while this process pauses would be one.
    refuses: ({ address }: AdmissionRequest) => restSeconds(address) > 0,
  }
  const connections = createConnections(
    options.connectionLimits ?? { connectionsMax: 100, connectionsPerAddressMax: Infinity },
    { turnsAway: options.turnsAway ?? (() => false), restSeconds: () => parkedSeconds },
  )
  const uploads = createUploads(options.uploadLimits ?? { bytesMax: megabyte, bytesPerAddressMax: megabyte })
  const limits = createCallerLimits(
    { ...noLimits, requestsPerMinute: options.requestsPerMinute ?? 0 },
    { nowMs: () => systemClock.nowMs(), onLimited: () => undefined },
  )
  const serve = createApp({
    clock,
    log: options.log ?? silentLog,
    metrics: createMetrics(),
    admission,
    connections,
    uploads,
    limits,
    sales,
    endpoints: [order],
    freeRoutes: [free, probe, ...(options.freeRoutes ?? [])],
    trustedProxyHops,
    isDraining: options.isDraining ?? (() => false),
  })
  const unread = createUnreadAnswers(options.unreadLimits ?? { idleMs: 20_000, bytesMax: megabyte })
  const turns = createTurns({ serve, unread, rests: options.rests ?? false })
  const onRequest: typeof turns.onRequest = (request, response) => {
    options.onRequest?.()
    turns.onRequest(request, response)
  }
  const listener = await listen(onRequest, {
    host: '127.0.0.1',
    port: 0,
    takes: connections.take,
    onConnection: turns.onConnection,
    whenAnswered: turns.whenAnswered,
  })
  afterFile(async () => {
    admission.close()
    await listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 })
  })
  return { port: listener.port, admission, connections, uploads }
}

const answerOf = (body: string) => () => Promise.resolve({ status: 200, headers: {}, body })
const free: FreeRoute = { path: '/free', serve: answerOf('free') }
const probe: FreeRoute = { path: '/livez', isProbe: true, serve: answerOf('alive') }
