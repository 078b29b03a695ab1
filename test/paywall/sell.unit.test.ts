import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { Fault } from '@tollbook/core/fault'
import { refuse } from '@tollbook/core/refusal'
import { silentLog } from '../../src/machine/log.ts'
import { jsonAnswer } from '../../src/paywall/answer.ts'
import { type Paywall, sell } from '../../src/paywall/paywall.ts'
import type { PaidRequest } from '../../src/paywall/paidRequest.ts'
import type { PaymentRail } from '../../src/paywall/rail.ts'
import { orderDigest } from '../../src/paywall/lookUpPayment.ts'
import { Serving } from '../../src/paywall/serving.ts'
import { evolve, type PaymentState } from '../../src/payment/payment.ts'
import type { PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'
import type { CheckedOrder, Outcome } from '../../src/product/product.ts'
import { order, otherWallet, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { requestOf } from './requestOf.ts'
import { sampleReceipt } from './sampleReceipt.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unusedLedger } from './unusedLedger.ts'

/* One request through the paywall. `steps` lists what it asked of its ports, in order. */

const settlement = settlementOf(referenceNumber(1))
const { reference, wallet, price } = settlement
const { endpoint } = order
const digest = orderDigest({ path: endpoint, method: 'GET' }, { parameters: {} })
const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }
const submitted: PaymentState = { phase: 'submitted', version: 1, wallet, endpoint, transactionBase64: 'AA==' }
const released: PaymentState = { phase: 'released', version: 4, settlement, attempt: 1, endpoint, isFinal: false }
const nowMs = 1_790_000_000_000
const clock = { nowMs: () => nowMs, monotonicMs: () => 0, sleep: () => new Promise<void>(() => undefined) }
const meta = { source: 'test', asOf: '2026-11-22T00:00:00.000Z', cached: false }
const delivered: Outcome = { kind: 'delivered', data: {}, meta }
const proof = { toll: 'x', 'toll-proof': 'x' }

interface Given {
  readonly headers?: Readonly<Record<string, string>>
  readonly known?: PaymentState
  readonly deps?: Partial<Paywall>
  readonly ledger?: Partial<PaymentLedger>
  readonly rail?: Partial<PaymentRail>
  readonly ordered?: Partial<CheckedOrder>
  readonly request?: Partial<PaidRequest>
}

function openSale({ headers = proof, known = unknownPayment, ...given }: Given = {}) {
  const steps: string[] = []
  const changes: PaymentChange[] = []
  const step = <T>(name: string, result: T): T => {
    steps.push(name)
    return result
  }
  const ledger: PaymentLedger = {
    ...unusedLedger,
    async append(change) {
      changes.push(change)
      const after = change.events.reduce((state, event) => evolve(state, event, nowMs), change.before)
      const leaves = change.events.map((_, index) => ({ position: index + 1, leafHash: 'ab' }))
      return step('append', { outcome: 'appended', after, recordedAtMs: nowMs, leaves })
    },
    lookUp: async () => step('lookUp', { payment: known, reference, earlier: undefined, stored: undefined }),
    ...given.ledger,
  }
  const rail = {
    ...scriptedRail('toll'),
    challenge: async () => step('challenge', { instruction: 'pay', members: {}, headers: {} }),
    read: () => ({ payer: wallet, proof: { reference } }),
    settle: async () => step('settle', { verdict: settlement, payment: known }),
    ...given.rail,
  }
  const deps: Paywall = {
    clock,
    ledger,
    log: silentLog,
    rails: [rail],
    quoteTtlMs: 1_000,
    token: defaultTokenNames,
    handlerTimeoutMs: 1_000,
    leaseMs: 60_000,
    attemptsMax: 10,
    currentPrice: () => ({ ...price, priceList: 1 }),
    whyClosed: () => undefined,
    whyNoQuotes: () => undefined,
    whyExposed: async () => undefined,
    serving: new Serving(),
    signReceipt: async () => sampleReceipt(),
    onFault: ({ message }, requestId) => void steps.push(`${message} in ${requestId}`),
    ...given.deps,
  }
  const ordered = {
    endpoint,
    parameters: {},
    whyUnavailable: () => undefined,
    whyUndeliverable: () => undefined,
    whyNoData: () => undefined,
    deliver: async () => step('deliver', delivered),
    ...given.ordered,
  }
  const request: PaidRequest = {
    ...requestOf({ headers }),
    requestId: 'request',
    readParameters: async () => ordered,
    limitQuotes: () => step('limitQuotes', undefined),
    limitLookups: () => step('limitLookups', undefined),
    onClaimed: ({ payer, isFirst }) => void steps.push(`claimed ${payer === wallet} ${isFirst}`),
    ...given.request,
  }
  return { sold: sell(deps, { path: endpoint, method: 'GET' }, request), steps, changes }
}

test('a further attempt with a debit is settled again, and does not count as an unknown proof', async () => {
  const facts = { tab: 'x', number: 1n, deposit: reference, signed: undefined, bearerHash: 'ab', lifecycle: 0 }
  const debit = { ...facts, orderDigest: digest }
  const known = { ...released, settlement: { ...settlement, debit } }
  const dearer = { ...settlement, debit, priceList: 2, price: { ...price, priceMicroUsd: 2n * price.priceMicroUsd } }
  const { sold, steps, changes } = openSale({
    known,
    rail: { settle: async () => ({ verdict: dearer, payment: known }) },
  })
  await sold
  expect(steps).toEqual(['lookUp', 'append', 'claimed true false', 'deliver', 'append'])
  expect(changes[0]?.events).toMatchObject([{ kind: 'TabDebited', price: dearer.price }])
})

test('a claim is decided on the state that the rail has recorded, so it takes one append and no second lookup', async () => {
  const changes: PaymentChange[] = []
  const append: PaymentLedger['append'] = async (change) => {
    changes.push(change)
    return { outcome: 'idempotency_key_reused' }
  }
  const settle = async () => ({ verdict: settlement, payment: submitted })
  const { sold, steps } = openSale({ ledger: { append }, rail: { settle } })
  expect(await sold).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', payment: submitted })
  expect(changes).toMatchObject([{ step: 'payment.claim', before: submitted }])
  // A claim that fails earns nothing, however often the payment is presented.
  expect(steps).toEqual(['lookUp', 'limitLookups'])
})

test('a payment is claimed before the handler runs, and delivered before the answer is sent', async () => {
  const { sold, steps, changes } = openSale()
  expect(await sold).toMatchObject({ status: 200 })
  expect(steps).toEqual(['lookUp', 'limitLookups', 'settle', 'append', 'claimed true true', 'deliver', 'append'])
  expect(changes).toMatchObject([{ step: 'payment.claim' }, { step: 'payment.fulfil' }])
})

test('a payment that the ledger has verified is settled from the ledger, so it counts against no limit', async () => {
  const { sold, steps } = openSale({ known: released })
  expect(await sold).toMatchObject({ status: 200 })
  expect(steps).toEqual(['lookUp', 'append', 'claimed true false', 'deliver', 'append'])
})

const limited = refuse('RATE_LIMITED', 'too many', 9)
const closed = { code: 'ENDPOINT_UNAVAILABLE', retryAfterSeconds: 5 }

test.each<[string, Given, object]>([
  ['nothing is sold', { deps: { whyClosed: () => 'not durable' } }, { ...closed, message: 'not durable' }],
  ['its product is not sold', { ordered: { whyUnavailable: () => 'full' } }, { ...closed, message: 'full' }],
  ['there is no data', { ordered: { whyNoData: () => 'no such city' } }, { code: 'NO_DATA' }],
  ['it has no price', { deps: { currentPrice: () => undefined } }, closed],
  ['no node shows payments', { deps: { whyNoQuotes: () => 'no node' } }, { ...closed, message: 'no node' }],
  ['too much is not final', { deps: { whyExposed: async () => 'exposed' } }, { ...closed, message: 'exposed' }],
  ['its caller has too many quotes', { request: { limitQuotes: () => limited } }, limited],
])('a request for a price gets no offer if %s', async (_, given, refused) => {
  const { sold, steps } = openSale({ ...given, headers: {} })
  expect(await sold).toMatchObject(refused)
  expect(steps).not.toContain('challenge')
})

test('a request for a price counts as a quote, and touches neither ledger nor handler', async () => {
  const { sold, steps } = openSale({ headers: {}, ordered: { whyUndeliverable: () => 'not asked before payment' } })
  expect(await sold).toMatchObject({ status: 402 })
  expect(steps).toEqual(['limitQuotes', 'challenge'])
})

test.each<[string, Given]>([
  ['no quotes are created', { deps: { whyNoQuotes: () => 'no node' } }],
  ['the queue is too long for new buyers', { ordered: { whyUnavailable: () => 'full' } }],
  ['the product has lost its price', { deps: { currentPrice: () => undefined } }],
  ['its caller has too many quotes', { request: { limitQuotes: () => limited } }],
  ['too much is not final, and its payment is', { known: { ...released, isFinal: true }, deps: exposed() }],
])('a payer is served while %s', async (_, given) => {
  expect(await openSale(given).sold).toMatchObject({ status: 200 })
})

function exposed(): Partial<Paywall> {
  return { whyExposed: async () => 'exposed' }
}

test.each<[string, Given, object, readonly string[]]>([
  ['nothing is sold', { deps: { whyClosed: () => 'not durable' } }, closed, []],
  ['its product cannot be delivered', { ordered: { whyUndeliverable: () => 'gone' } }, closed, []],
  ['there is no data', { ordered: { whyNoData: () => 'no such city' } }, { code: 'NO_DATA' }, []],
  ['too much is not final', { known: submitted, deps: exposed() }, { ...closed, payment: submitted }, ['lookUp']],
  ['its caller has shown too many', { request: { limitLookups: () => limited } }, limited, ['lookUp']],
])('a payment is neither searched on the chain nor claimed if %s', async (_, given, refused, steps) => {
  const shown = openSale(given)
  expect(await shown.sold).toMatchObject(refused)
  expect(shown.steps).toEqual(steps)
})

test('a payment of another wallet is refused with its state, and is not settled again', async () => {
  const known: PaymentState = { ...released, settlement: { ...settlement, wallet: otherWallet } }
  const { sold, steps } = openSale({ known })
  expect(await sold).toMatchObject({ code: 'INVALID_PAYMENT', reason: 'other_wallet', payment: known })
  expect(steps).toEqual(['lookUp'])
})

test('a refusal contains the state that the rail has recorded', async () => {
  const settle = async () => ({ verdict: refuse('PAYMENT_PENDING', 'not confirmed', 2), payment: submitted })
  expect(await openSale({ rail: { settle } }).sold).toMatchObject({ code: 'PAYMENT_PENDING', payment: submitted })
})

test('a mistake in the request is answered before anything is asked', async () => {
  const mistake = jsonAnswer(400, '{}')
  const wrongInput = openSale({ request: { readParameters: async () => mistake } })
  expect(await wrongInput.sold).toBe(mistake)
  const wrongKey = openSale({ headers: { ...proof, 'idempotency-key': 'a b' } })
  expect(await wrongKey.sold).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'idempotency-key' }] })
  const wrongProof = openSale({ rail: { read: () => refuse('INVALID_PAYMENT', 'unreadable') } })
  expect(await wrongProof.sold).toMatchObject({ message: 'unreadable' })
  expect([wrongInput.steps, wrongKey.steps, wrongProof.steps]).toEqual([[], [], []])
})

test('an unknown outcome is never a 402, and is reported with the id of the request (I8)', async () => {
  const away = new Fault('the ledger is away', { retryable: true })
  const paying = openSale({ ledger: { lookUp: () => Promise.reject(away) } })
  expect(await paying.sold).toMatchObject({ code: 'PAYMENT_PENDING', retryAfterSeconds: 2 })
  const asking = openSale({ headers: {}, rail: { challenge: () => Promise.reject(away) } })
  expect(await asking.sold).toMatchObject({ code: 'ENDPOINT_UNAVAILABLE', retryAfterSeconds: 2 })
  expect([paying.steps.at(-1), asking.steps.at(-1)]).toEqual(Array(2).fill('the ledger is away in request'))
  const broken = new Fault('a wrong setting', { retryable: false })
  await expect(openSale({ ledger: { lookUp: () => Promise.reject(broken) } }).sold).rejects.toBe(broken)
})

test.each<[Outcome | Error, object]>([
  [{ kind: 'failed', code: 'NO_DATA', message: 'no such city' }, { reason: 'no_data' }],
  [{ kind: 'failed', code: 'UPSTREAM_TIMEOUT', message: 'late' }, { reason: 'upstream_timeout' }],
  [new Error('a bug'), { reason: 'internal_error' }],
])('a handler that ends with %j releases the payment under its reason', async (outcome, failed) => {
  const deliver = async () => {
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  const { sold, changes } = openSale({ ordered: { deliver } })
  if (outcome instanceof Error) await expect(sold).rejects.toBe(outcome)
  else expect(await sold).toMatchObject({ code: 'code' in outcome ? outcome.code : '' })
  expect(changes[1]).toMatchObject({ step: 'payment.release', events: [failed] })
})

test('the last permitted attempt says that the payment is owed back, and so does a failure that ends the payment', async () => {
  const failed: Outcome = { kind: 'failed', code: 'UPSTREAM_FAILED', message: 'no answer' }
  const last = openSale({ deps: { attemptsMax: 1 }, ordered: { deliver: async () => failed } })
  expect(await last.sold).toMatchObject({
    message: expect.stringMatching(/^no answer; .*owed back to the wallet$/),
    code: 'UPSTREAM_FAILED',
    reason: 'attempts_exhausted',
  })
  expect(last.changes[1]).toMatchObject({ step: 'payment.exhaust' })
  const ended = openSale({ ordered: { deliver: async () => ({ ...failed, endsPayment: true }) } })
  expect(await ended.sold).toMatchObject({ message: expect.stringContaining('owed back') })
  const first = openSale({ ordered: { deliver: async () => failed } })
  expect(await first.sold).toEqual({ kind: 'refusal', code: 'UPSTREAM_FAILED', message: 'no answer' })
})

test('an answer that another attempt has overtaken is not sent', async () => {
  const outcomes = ['appended', 'conflict'] as const
  let tries = 0
  const append: PaymentLedger['append'] = async ({ before, events }) => {
    if (outcomes[tries++] === 'conflict') return { outcome: 'conflict' }
    const after = events.reduce((state, event) => evolve(state, event, nowMs), before)
    return { outcome: 'appended', after, recordedAtMs: nowMs, leaves: [] }
  }
  const { sold } = openSale({ ledger: { append } })
  expect(await sold).toMatchObject({ code: 'PAYMENT_IN_PROGRESS' })
  assert(tries === 2, 'the delivery was offered to the ledger once')
})
