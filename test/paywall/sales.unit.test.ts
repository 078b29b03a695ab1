import { expect, test } from 'vitest'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { refuse, refuseProof } from '@tollbook/core/refusal'
import type { Paywall } from '../../src/paywall/paywall.ts'
import type { RefusedRequest } from '../../src/paywall/rail.ts'
import { createSales } from '../../src/paywall/sales.ts'
import { Serving } from '../../src/paywall/serving.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { requestOf } from './requestOf.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'

const settlement = settlementOf(referenceNumber(1))
const { reference, wallet, price } = settlement
const variant = `${order.endpoint}#large`
const clock = { nowMs: () => 1_000, monotonicMs: () => 0, sleep: () => Promise.resolve() }

/** Sells to a caller whose payment the rail refuses. Returns the answer, and what the rail had to explain. */
async function refused(
  verdict: ReturnType<typeof refuse>,
  payment: PaymentState = { phase: 'unknown', version: 0 },
  error?: Error,
) {
  const explained: RefusedRequest[] = []
  const rail = {
    ...scriptedRail('toll'),
    read: () => ({ payer: wallet, proof: { reference } }),
    settle: async () => ({ verdict, payment }),
    async explain(_: object, question: RefusedRequest) {
      explained.push(question)
      if (error !== undefined && question.offer !== undefined) throw error
      return { headers: { 'x-toll': 'explained' }, members: { toll: 1 } }
    },
  }
  const lookUp = async () => ({ payment, reference, earlier: undefined, stored: undefined })
  const deps: Paywall = {
    clock,
    ledger: { ...unusedLedger, append: unused, lookUp },
    log: silentLog,
    rails: [scriptedRail('other'), rail],
    quoteTtlMs: 500,
    token: defaultTokenNames,
    handlerTimeoutMs: 1_000,
    leaseMs: 60_000,
    attemptsMax: 10,
    currentPrice: (endpoint) => ({ ...price, endpoint, priceList: 1 }),
    whyClosed: () => undefined,
    whyNoQuotes: () => undefined,
    whyExposed: async () => undefined,
    serving: new Serving(),
    signReceipt: unused,
    onFault: (fault: Error) => expect.unreachable(fault.message),
  }
  const why = { whyUnavailable: () => undefined, whyUndeliverable: () => undefined, whyNoData: () => undefined }
  const request = {
    ...requestOf({ headers: { 'toll-proof': 'x' } }),
    requestId: 'request',
    readParameters: async () => ({ endpoint: variant, parameters: {}, ...why, deliver: unused }),
    limitQuotes: () => undefined,
    limitLookups: () => undefined,
    onClaimed: () => undefined,
  }
  const answer = await createSales(deps).sell({ path: order.endpoint, method: 'GET' }, request)
  return { answer, offer: explained[0]?.offer }
}

test('a refused payer is offered the price of the same order again, in the form of the rail that carried the proof', async () => {
  const { answer, offer } = await refused(refuseProof('transaction_failed'))
  expect(answer).toMatchObject({ status: 402, headers: { 'x-toll': 'explained' } })
  expect(JSON.parse('body' in answer ? answer.body.toString() : '')).toMatchObject({ code: 'INVALID_PAYMENT', toll: 1 })
  const times = { issuedAtMs: 1_000, expiresAtMs: 1_500 }
  expect(offer).toMatchObject({
    price: { endpoint: variant },
    product: { path: order.endpoint },
    payer: undefined,
    ...times,
  })
})

test('a refusal needs no ledger, whose fault leaves out the new offer only', async () => {
  const unknown: PaymentState = { phase: 'unknown', version: 0 }
  const verdict = refuseProof('transaction_failed')
  const { answer } = await refused(verdict, unknown, new Fault('the ledger is away', { retryable: true }))
  expect(answer).toMatchObject({ status: 402, headers: { 'x-toll': 'explained' } })
  await expect(refused(verdict, unknown, new TypeError('a bug'))).rejects.toThrow('a bug')
})

const submitted: PaymentState = {
  phase: 'submitted',
  version: 1,
  wallet,
  endpoint: variant,
  transactionBase64: 'AA==',
}

test.each([
  ['a payment that may still arrive', refuse('PAYMENT_PENDING', 'wait', 2), submitted],
  ['a refusal that a repetition may change', refuse('INVALID_PAYMENT', 'wait', 2), undefined],
  ['a recorded payment that has moved tokens', refuseProof('quote_unknown'), submitted],
])('after %s there is no new offer, because the caller could pay twice', async (_, verdict, payment) => {
  const { answer, offer } = await refused(verdict, payment)
  expect([offer, answer.headers['x-toll']]).toEqual([undefined, 'explained'])
})
