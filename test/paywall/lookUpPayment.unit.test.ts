import { expect, test } from 'vitest'
import type { PaymentState } from '../../src/payment/payment.ts'
import { messageReference, type PresentedReference } from '../../src/payment/paymentReference.ts'
import { lookUpPayment, type LookUpQuestion } from '../../src/paywall/lookUpPayment.ts'
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
