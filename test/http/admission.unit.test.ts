import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { createAdmission } from '../../src/http/admission.ts'
import { createApp } from '../../src/http/app.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { createCallerLimits } from '../../src/http/callerLimits.ts'
import { listen, type Listener } from '../../src/http/server.ts'
import type { Paywall } from '../../src/paywall/paywall.ts'
import { silentLog } from '../../src/primitives/log.ts'
import { scriptedRail } from '../paywall/scriptedRail.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { rawRequest } from './rawRequest.ts'

const unused = (): never => {
  throw new Error('no request of these tests is sold')
}
const ledger: Paywall['ledger'] = {
  lookUp: unused,
  append: unused,
  markSent: unused,
  findDelivery: unused,
  recordQuote: unused,
  findOpenQuote: unused,
  findQuoteByMemo: unused,
  findPrice: unused,
}
const paywall: Paywall = {
  clock: systemClock,
  log: silentLog,
  ledger,
  rails: [scriptedRail('test')],
  quoteTtlMs: 1,
  leaseMs: 1,
  handlerTimeoutMs: 1,
  attemptsMax: 1,
  currentPrice: unused,
  whyClosed: unused,
  whyNoQuotes: unused,
  whyExposed: unused,
  signReceipt: unused,
  onFault: unused,
}

const perMinute = 3
const limitSettings = {
  requestsPerMinute: perMinute,
  quotesPerAddressMax: 0,
  quotesPerWalletMax: 0,
  unknownProofsPerMinute: 0,
  quoteTtlMs: 1_000,
}
const admission = createAdmission({ inFlightMax: 3 })
let isOpen = Promise.withResolvers<void>()
let listener: Listener

beforeAll(async () => {
  const slow = {
    path: '/slow',
    async serve() {
      await isOpen.promise
      return { status: 200, headers: {}, body: 'done' }
    },
  }
  const app = createApp({
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics(),
    admission,
    limits: createCallerLimits(limitSettings, { nowMs: () => systemClock.nowMs(), onLimited: () => undefined }),
    paywall,
    endpoints: [],
    freeRoutes: [slow],
    // The first address of X-Forwarded-For counts, so that a test has as many callers as it needs.
    trustedProxyHops: 1,
    isDraining: () => false,
  })
  listener = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  admission.close()
  await listener.drain({ timeoutMs: 0, clock: systemClock, inFlight: () => 0 })
})

const ask = (address: string, headers: Record<string, string> = {}) =>
  rawRequest(listener.port, { method: 'GET', target: '/slow', headers: { 'x-forwarded-for': address, ...headers } })

test('a request that is refused as RATE_LIMITED gives its place back', async () => {
  isOpen.resolve()
  for (let n = 0; n < perMinute; n++) expect((await ask('192.0.2.1')).status).toBe(200)
  for (let n = 0; n < 5; n++) expect(await ask('192.0.2.1')).toMatchObject({ status: 429 })
  expect(admission.inFlight()).toBe(0)
  expect((await ask('192.0.2.2')).status).toBe(200)
})

test('at two thirds of the limit a request without a proof is refused as OVERLOADED, and one with a proof is not', async () => {
  isOpen = Promise.withResolvers()
  const waiting = [ask('192.0.2.3'), ask('192.0.2.4')]
  await awaitThat('two requests are in progress', () => admission.inFlight() === 2)
  const refused = await ask('192.0.2.5')
  expect(refused.status).toBe(503)
  expect(refused.headers['retry-after']).toBe('1')
  expect(refused.body).toMatchObject({ code: 'OVERLOADED' })
  const paid = ask('192.0.2.6', { 'test-proof': 'x' })
  await awaitThat('three requests are in progress', () => admission.inFlight() === 3)
  expect((await ask('192.0.2.7', { 'test-proof': 'x' })).status).toBe(503)
  isOpen.resolve()
  for (const reply of await Promise.all([...waiting, paid])) expect(reply.status).toBe(200)
  expect(admission.inFlight()).toBe(0)
})
