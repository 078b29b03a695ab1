import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { silentLog } from '../../src/machine/log.ts'
import { createAdmission } from '../../src/transport/admission.ts'
import type { AdmitDeps } from '../../src/transport/admitRequest.ts'
import { createCallerLimits } from '../../src/transport/callerLimits.ts'
import { createConnections } from '../../src/transport/connections.ts'
import { openVisit } from '../../src/transport/paidVisit.ts'
import { afterFile } from '../support/afterFile.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { wallet } from '../payment/paymentStory.ts'

const address = '192.0.2.1'
const off = { quotesPerAddressMax: 0, quotesPerWalletMax: 0, openQuotesBytesMax: 0, unknownProofsPerMinute: 0 }

/** One request behind a proxy, on an instance that admits one request of each purpose. */
function openStage() {
  const admission = createAdmission({ now: () => 0, limitAtStart: 2, adapt: () => 2 })
  afterFile(() => Promise.resolve(admission.close()))
  const limits = createCallerLimits(
    { ...off, requestsPerMinute: 10, quoteTtlMs: 1 },
    { nowMs: () => 0, onLimited: () => undefined },
  )
  const held: boolean[] = []
  const connections = {
    ...createConnections({ connectionsMax: 1, connectionsPerAddressMax: 1 }, admission),
    hold: () => void held.push(true),
    release: () => void held.push(false),
  }
  const deps: AdmitDeps = {
    admission,
    connections,
    limits,
    sales: { rails: [] },
    findSold: () => undefined,
    trustedProxyHops: 1,
  }
  const request = Object.assign(new IncomingMessage(new Socket()), {
    url: '/',
    headers: { 'x-forwarded-for': address },
  })
  const context = new Koa().createContext(request, new ServerResponse(request))
  const visit = openVisit({ ...deps, clock: heldClock, log: silentLog }, { context, pass: limits.enter(address) })
  const left = () => Number(/"requests";r=(\d+)/.exec(limits.enter(address).headers()['ratelimit'] ?? '')?.[1])
  return { visit, admission, left, held, response: context.res }
}

test('the first claim of a payment returns what its purchase has used, and its address earns work', () => {
  const { visit, admission, left, response } = openStage()
  assert(visit.enter(), 'the first request is admitted')
  expect(left()).toBe(8)
  visit.facts.onClaimed({ payer: wallet, priceMicroUsd: 20_000n, isFirst: true, isQuoted: true })
  // Its own request, and the one that got the quote. The reading itself counts.
  expect(left()).toBe(9)
  expect(response.getHeader('x-address-state')).toBe('paid')
  expect(admission.refuses({ purpose: 'proof', address })).toBe(false)
})

test('a later attempt with the same payment frees its place, and earns nothing', () => {
  const { visit, admission, left, response } = openStage()
  const read = { purpose: 'read', address: '192.0.2.2' } as const
  visit.enter()
  expect(admission.enter(read)).toBeUndefined()
  visit.facts.onClaimed({ payer: wallet, priceMicroUsd: 20_000n, isFirst: false, isQuoted: true })
  expect(admission.enter(read)).toBeDefined()
  expect(left()).toBe(8)
  expect(response.hasHeader('x-address-state')).toBe(false)
})

test('a visit that is not admitted holds nothing, and one that ends frees its place and its connection', () => {
  const { visit, admission, held, response } = openStage()
  const other = admission.enter({ purpose: 'read', address: '192.0.2.2' })
  expect([visit.enter(), held]).toEqual([false, []])
  visit.leave()
  other?.leave()
  expect(visit.enter()).toBe(true)
  visit.leave()
  response.emit('close')
  expect([admission.inFlight(), held]).toEqual([0, [true, false]])
})
