import { expect, test } from 'vitest'
import { type Refusal, refuse, refuseProof } from '@tollbook/core/refusal'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { Settlement } from '../../src/payment/settlement.ts'
import { messageReference, type PresentedReference } from '../../src/payment/paymentReference.ts'
import { lookUpPayment, type LookUpQuestion, orderDigest } from '../../src/paywall/lookUpPayment.ts'
import type { SettleQuestion } from '../../src/paywall/rail.ts'
import { Serving } from '../../src/paywall/serving.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'

const settlement = settlementOf(referenceNumber(1))
const { reference, wallet } = settlement
const path = '/api/ai/chat'
const released = { phase: 'released', version: 4, settlement, attempt: 1, isFinal: false } as const

const unknown = { phase: 'unknown', version: 0 } as const
const question: LookUpQuestion = {
  rail: scriptedRail('toll'),
  presented: { payer: wallet, proof: { reference } },
  product: { path, method: 'POST' },
  ordered: {
    endpoint: path,
    formerEndpoint: `${path}#large`,
    parameters: { model: 'large' },
    whyUnavailable: () => undefined,
    whyUndeliverable: () => undefined,
    whyNoData: () => undefined,
    deliver: unused,
  },
  idempotencyKey: undefined,
  request: { limitLookups: () => undefined },
}

const find = (payment: PaymentState) =>
  lookUpPayment(
    {
      clock: { nowMs: () => 0, monotonicMs: () => 0, sleep: unused },
      serving: new Serving(),
      ledger: {
        ...unusedLedger,
        append: unused,
        lookUp: () => Promise.resolve({ payment, reference, earlier: undefined, stored: undefined }),
      },
    },
    question,
  )

test('a payment on record for a model buys that model after its price was removed', async () => {
  expect(await find({ ...released, endpoint: `${path}#large` })).toMatchObject({ order: { endpoint: `${path}#large` } })
})

test('a payment for another model, or one that is not on record, has the endpoint of now', async () => {
  expect(await find({ ...released, endpoint: `${path}#small` })).toMatchObject({ order: { endpoint: path } })
  expect(await find(unknown)).toMatchObject({ order: { endpoint: path } })
  expect(order.endpoint).not.toBe(path)
})

test('an earlier payment that a request of this process is serving is not waited for, and that of another process is', async () => {
  const [message, presented] = [messageReference('ab'.repeat(32)), messageReference('cd'.repeat(32))]
  const served: PaymentState = { phase: 'submitted', version: 1, wallet, endpoint: path, transactionBase64: 'AA==' }
  const serving = new Serving()
  let waits = 0
  const ask = () => {
    const sleep = () => Promise.resolve(void waits++)
    const lookUp = ({ reference: asked }: { readonly reference: PresentedReference }) => {
      const known = asked === message ? { payment: served, reference } : { payment: unknown, reference: undefined }
      return Promise.resolve({ ...known, earlier: undefined, stored: undefined })
    }
    const listUnreceived = () => Promise.resolve([{ message, ageMs: 0 }])
    const rail = { ...scriptedRail('toll'), resume: () => Promise.resolve({ reference: message }) }
    return lookUpPayment(
      {
        clock: { nowMs: () => 0, monotonicMs: () => 0, sleep },
        serving,
        ledger: { ...unusedLedger, append: unused, lookUp, listUnreceived },
      },
      { ...question, rail, presented: { payer: wallet, proof: { reference: presented } } },
    )
  }
  expect(await ask()).toMatchObject({ code: 'PAYMENT_IN_PROGRESS' })
  expect(waits).toBe(27)
  using _request = serving.enter(message)
  expect(await ask()).toMatchObject({ known: { payment: unknown }, proof: { reference: presented } })
  expect(waits).toBe(27)
})

const message = messageReference('ab'.repeat(32))
const presentedMessage = messageReference('cd'.repeat(32))

/** A new payment of a wallet whose earlier payment for the same order is in this state. */
async function findEarlier(payment: PaymentState, verdict?: Settlement | Refusal, isResumed = true, limited?: Refusal) {
  const settled: PaymentState[] = []
  const rail = {
    ...scriptedRail('toll'),
    resume: async () => (isResumed ? { reference: message } : undefined),
    settle: async (asked: SettleQuestion) => {
      settled.push(asked.payment)
      return { verdict: verdict ?? settlement, payment: asked.payment }
    },
  }
  const lookUp = async ({ reference: asked }: { readonly reference: PresentedReference }) => {
    const known = asked === message ? { payment, reference } : { payment: unknown, reference: undefined }
    return { ...known, earlier: undefined, stored: undefined }
  }
  const listUnreceived = async () => [{ message, ageMs: 60_000 }]
  const ledger = { ...unusedLedger, append: unused, lookUp, listUnreceived }
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: unused }
  const presented = { payer: wallet, proof: { reference: presentedMessage } }
  const asked = { ...question, rail, presented, request: { limitLookups: () => limited } }
  const found = await lookUpPayment({ clock, serving: new Serving(), ledger }, asked)
  return { found, settled }
}

const submitted: PaymentState = { phase: 'submitted', version: 1, wallet, endpoint: path, transactionBase64: 'AA==' }

test('an earlier payment that was sent is settled first, and a payment that the ledger has verified is not', async () => {
  const sent = await findEarlier(submitted)
  expect(sent).toMatchObject({ found: { proof: { reference: message }, settlement }, settled: [submitted] })
  const failed = await findEarlier({ ...released, endpoint: path })
  expect(failed).toMatchObject({ found: { proof: { reference: message } }, settled: [] })
  expect(failed.found).not.toHaveProperty('settlement')
})

test('an earlier payment that was sent counts as a lookup, because it costs calls to a node', async () => {
  const limited = refuse('RATE_LIMITED', 'too many unknown proofs', 2)
  expect(await findEarlier(submitted, undefined, true, limited)).toEqual({ found: limited, settled: [] })
  const known = await findEarlier({ ...released, endpoint: path }, undefined, true, limited)
  expect(known).toMatchObject({ found: { proof: { reference: message } } })
})

test('a new payment is taken if the earlier one moved no tokens, and not while that is unknown', async () => {
  const fresh = { proof: { reference: presentedMessage }, known: { payment: unknown } }
  expect((await findEarlier(submitted, refuseProof('transaction_failed'))).found).toMatchObject(fresh)
  const pending = refuse('PAYMENT_PENDING', 'wait', 2)
  expect((await findEarlier(submitted, pending)).found).toBe(pending)
  expect((await findEarlier(submitted, undefined, false)).found).toMatchObject(fresh)
})

test('a payment that the ledger knows is not replaced by another one of its wallet', async () => {
  const rail = { ...scriptedRail('toll'), resume: unused }
  const lookUp = async () => ({ payment: submitted, reference, earlier: undefined, stored: undefined })
  const ledger = { ...unusedLedger, append: unused, lookUp }
  const clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: unused }
  const found = await lookUpPayment({ clock, serving: new Serving(), ledger }, { ...question, rail })
  expect(found).toMatchObject({ known: { payment: submitted } })
})

test('another method, path, body, header or parameter is another order', () => {
  const product = { path, method: 'POST' } as const
  const ordered = { parameters: { a: 1 } }
  const digests = [
    orderDigest(product, ordered),
    orderDigest({ ...product, method: 'PUT' }, ordered),
    orderDigest({ ...product, path: '/other' }, ordered),
    orderDigest(product, { parameters: { a: 2 } }),
    orderDigest(product, { ...ordered, body: { contentType: 'a/b', digest: 'ab' } }),
    orderDigest(product, { ...ordered, body: { contentType: 'a/b', digest: 'cd' } }),
    orderDigest(product, { ...ordered, headers: { accept: 'a' } }),
    orderDigest(product, { ...ordered, headers: { accept: 'b' } }),
  ]
  expect(new Set(digests).size).toBe(digests.length)
  expect(orderDigest(product, { parameters: { a: 1 } })).toBe(digests[0])
})
