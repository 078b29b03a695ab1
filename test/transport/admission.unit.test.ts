import { expect, onTestFinished, test, vi } from 'vitest'
import { createAdmission, type Permit, type AdmissionRequest } from '../../src/transport/admission.ts'
import { type Load, limitMax, nextLimit } from '../../src/transport/adaptiveLimit.ts'
import { type FollowedLoad, followLoad } from '../../src/transport/followLoad.ts'
import { afterFile } from '../support/afterFile.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { openPlainServer } from './plainServer.ts'
import { rawRequest } from './rawRequest.ts'

function openAdmission(limit: number, load = followLoad()) {
  const admission = createAdmission({ now: () => performance.now(), limitAtStart: limit, adapt: () => limit, load })
  afterFile(() => Promise.resolve(admission.close()))
  return admission
}

const quote: AdmissionRequest = { purpose: 'quote', address: '192.0.2.1' }
const proof: AdmissionRequest = { purpose: 'proof', address: '192.0.2.1' }

test('each purpose has half of the limit, so that none shuts out the others', () => {
  const admission = openAdmission(2)
  expect(admission.enter(quote)).toBeDefined()
  expect(admission.refuses(quote)).toBe(true)
  expect(admission.enter(quote)).toBeUndefined()
  const permit = admission.enter(proof)
  expect(admission.enter(proof)).toBeUndefined()
  permit?.leave()
  expect(admission.enter(proof)).toBeDefined()
  expect(admission.enter({ ...quote, purpose: 'read' })).toBeDefined()
})

test('a verified payment gives its place back at once, and its address is served when strangers are not', () => {
  const admission = openAdmission(2)
  const payer = { ...proof, address: '192.0.2.2' }
  buy(admission.enter(payer))
  expect(admission.enter(proof)).toBeDefined()
  expect(admission.refuses(proof)).toBe(true)
  // Half a cent earns 128 units: 16 requests with a proof.
  for (let n = 0; n < 15; n++) expect([admission.refuses(payer), admission.enter(payer)]).toEqual([false, anySlot])
  expect([admission.refuses(payer), admission.refuses(payer)]).toEqual([false, true])
  expect(admission.inFlight()).toBe(17)
})

const anySlot = expect.objectContaining({ leave: expect.any(Function) })

function buy(permit: Permit | undefined, priceMicroUsd = 5_000n): void {
  permit?.prove()
  permit?.earn(priceMicroUsd)
}

test('a payer who finds the places of payers taken gets one of a stranger', () => {
  const admission = openAdmission(2)
  const [one, two, late] = ['192.0.2.2', '192.0.2.3', '192.0.2.4'].map((address) => ({ ...proof, address }))
  for (const payer of [one, two, late]) for (let n = 0; n < 20; n++) leaveProven(admission.enter(payer ?? proof))
  for (const payer of [one, two]) for (let n = 0; n < 250; n++) expect(admission.enter(payer ?? proof)).toBeDefined()
  expect(admission.enter(late ?? proof)).toBeDefined()
  expect([admission.refuses(proof), admission.refuses(late ?? proof)]).toEqual([true, true])
})

function leaveProven(permit: Permit | undefined): void {
  buy(permit)
  permit?.leave()
}

test('while payers are served, reads have a number in each window, because none of them waits', async () => {
  const admission = openAdmission(50)
  const read: AdmissionRequest = { purpose: 'read', address: '192.0.2.1' }
  // Without a turn of the event loop no window ends.
  const refusedOf = (count: number) => Array.from({ length: count }, () => admission.refuses(read)).indexOf(true)
  expect(refusedOf(100)).toBe(-1)
  buy(admission.enter(proof))
  const first = await awaitThat('a window with a payer has ended', () => {
    buy(admission.enter({ ...proof, address: '192.0.2.2' }))
    const index = refusedOf(100)
    return index === -1 ? undefined : index
  })
  expect(first).toBeLessThanOrEqual(25)
})

test('a proof alone earns nothing', () => {
  const admission = openAdmission(2)
  admission.enter(proof)?.leave()
  expect(admission.enter(proof)).toBeDefined()
  expect(admission.refuses(proof)).toBe(true)
})

test('while callers who have paid are served and the event loop is busy, an address that asks for more than its allowance is turned away', async () => {
  // On a slow machine these requests would also be a flood, of which every stranger is refused.
  const admission = openAdmission(100_000, { ...followLoad(), isFlood: () => false })
  const payer = { ...proof, address: '192.0.2.2' }
  buy(admission.enter(payer))
  const ask = () => Array.from({ length: 2_000 }, () => admission.refuses(quote)).filter(Boolean).length
  expect(ask()).toBe(0)
  await awaitThat('the address is turned away', () => {
    occupyEventLoop(50)
    admission.enter(payer)?.leave()
    ask()
    return admission.restSeconds(quote.address) > 0 && admission.turnsAway(quote.address)
  })
  expect(admission.refuses({ ...quote, address: '192.0.2.3' })).toBe(false)
  // The earned work comes first, then the allowance of a newcomer: one payment does not exempt an address.
  for (let n = 0; n < 16; n++)
    expect([admission.turnsAway(payer.address), admission.refuses(payer)]).toEqual([false, false])
  for (let n = 0; n < 1_000; n++) admission.refuses(payer)
  expect(admission.restSeconds(payer.address)).toBeGreaterThan(0)
})

function occupyEventLoop(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs)
}

test('a health check passes without a permit, ten times a second for each address', () => {
  const admission = openAdmission(2)
  for (let n = 0; n < 10; n++) expect(admission.passesProbe('192.0.2.1')).toBe(true)
  expect(admission.passesProbe('192.0.2.1')).toBe(false)
  expect(admission.passesProbe('192.0.2.2')).toBe(true)
})

const calm: Load = { lagMs: 1, quoteMs: 5, servesPayers: true }

test.each<[string, number, Partial<Load>, number]>([
  ['a calm window lets it grow', 100, {}, 132],
  ['a lag of the event loop shrinks it', 100, { lagMs: 31 }, 70],
  ['slow quotes shrink it', 100, { quoteMs: 501 }, 70],
  ['strangers keep 8 while payers are served', 9, { lagMs: 500 }, 8],
  ['without payers they keep 160', 17, { lagMs: 500, servesPayers: false }, 160],
  ['it has an upper end', limitMax, {}, limitMax],
])('%s', (_, limit, load, expected) => {
  expect(nextLimit(limit, { ...calm, ...load })).toBe(expected)
})

test('the limit recovers from a flood within five seconds', () => {
  let limit = limitMax
  for (let window = 0; window < 20; window++) limit = nextLimit(limit, { ...calm, lagMs: 300 })
  expect(limit).toBe(8)
  for (let window = 0; window < 50; window++) limit = nextLimit(limit, calm)
  expect(limit).toBe(limitMax)
})

test('a request that is refused as RATE_LIMITED takes no permit', async () => {
  const { port, admission } = await openPlainServer({ requestsPerMinute: 3, trustedProxyHops: 1 })
  const ask = (address: string) =>
    rawRequest(port, { method: 'GET', target: '/free', headers: { 'x-forwarded-for': address } })
  for (let n = 0; n < 3; n++) expect((await ask('192.0.2.1')).status).toBe(200)
  for (let n = 0; n < 5; n++) expect(await ask('192.0.2.1')).toMatchObject({ status: 429 })
  expect(admission.inFlight()).toBe(0)
  expect((await ask('192.0.2.2')).status).toBe(200)
})

test('an overloaded instance refuses with Retry-After, and still answers health checks', async () => {
  const isOpen = Promise.withResolvers<void>()
  const slow = {
    path: '/slow',
    async serve() {
      await isOpen.promise
      return { status: 200, headers: {}, body: 'slow' }
    },
  }
  const { port, admission } = await openPlainServer({ limit: 2, freeRoutes: [slow] })
  const ask = (target: string) => rawRequest(port, { method: 'GET', target })
  const waiting = ask('/slow')
  await awaitThat('a request is in progress', () => admission.inFlight() === 1)
  const refused = await ask('/free')
  expect(refused).toMatchObject({ status: 503, body: { code: 'OVERLOADED' } })
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-request-id': expect.any(String) })
  expect(await ask('/livez')).toMatchObject({ status: 200, text: 'alive' })
  isOpen.resolve()
  expect((await waiting).status).toBe(200)
  expect(admission.inFlight()).toBe(0)
})

test.each([
  [1, 'spent'],
  [0, undefined],
])(
  'behind %s proxies a refusal because of the load of an address tells them %s',
  async (trustedProxyHops, expected) => {
    const { port } = await openPlainServer({ trustedProxyHops, restSeconds: () => 10 })
    const { status, headers } = await rawRequest(port, { method: 'GET', target: '/free' })
    expect([status, headers['retry-after'], headers['x-address-state']]).toEqual([503, '10', expected])
  },
)

const stillLoad = (changes: Partial<FollowedLoad>): FollowedLoad => ({ ...followLoad(), ...changes })

test('in a flood strangers are refused before any work, and an address that has paid is not', () => {
  const admission = openAdmission(100, stillLoad({ isFlood: () => true }))
  buy(admission.enter({ ...proof, address: '192.0.2.2' }))
  expect(admission.refuses(quote)).toBe(true)
  expect(admission.refuses({ ...quote, address: '192.0.2.2' })).toBe(false)
  expect(admission.refuses({ ...quote, purpose: 'read', address: '192.0.2.2' })).toBe(true)
})

test('only the time of quotes is measured, and each payer is seen', () => {
  const quoted: number[] = []
  let nowMs = 1_000
  let payers = 0
  const load = stillLoad({ quoted: (durationMs) => void quoted.push(durationMs), sawPayer: () => void payers++ })
  const admission = createAdmission({ now: () => nowMs, limitAtStart: 100, adapt: () => 100, load })
  afterFile(() => Promise.resolve(admission.close()))
  const [asking, paying] = [admission.enter(quote), admission.enter(proof)]
  nowMs += 100
  paying?.leave()
  nowMs += 150
  asking?.leave()
  expect([quoted, payers]).toEqual([[250], 0])
  buy(admission.enter(proof))
  expect(payers).toBe(1)
  admission.enter(proof)
  expect(payers).toBe(2)
})

test.each([
  ['strangers alone', false, 1, 0, 0],
  ['payers alone, and it is calm', true, 0.7, 8, 0],
  ['payers while it is busy', true, 0.71, 0, 5],
  ['payers while the event loop is late', true, 0, 8.1, 5],
])(
  'while the instance serves %s, a flood is answered with the rest %#',
  (_, servesPayers, utilization, lagMs, rest) => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const seen = { servesPayers, utilization, lagMs, quoteMs: 0 }
    const admission = openAdmission(1_000_000, stillLoad({ read: () => seen, isFlood: () => false }))
    for (let window = 0; window < 30; window++) {
      vi.advanceTimersByTime(100)
      for (let n = 0; n < 100; n++) admission.refuses(quote)
    }
    expect(admission.restSeconds(quote.address)).toBe(rest)
    expect(admission.restSeconds('192.0.2.9')).toBe(0)
  },
)
