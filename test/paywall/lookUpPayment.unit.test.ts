import { expect, test } from 'vitest'
import type { PaymentState } from '../../src/payment/payment.ts'
import { lookUpPayment } from '../../src/paywall/lookUpPayment.ts'
import { Serving } from '../../src/paywall/serving.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'

const settlement = settlementOf(referenceNumber(1))
const { reference, wallet } = settlement
const path = '/api/ai/chat'
const released = { phase: 'released', version: 4, settlement, attempt: 1, isFinal: false } as const

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
    {
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
    },
  )

test('a payment on record for a model buys that model after its price was removed', async () => {
  expect(await find({ ...released, endpoint: `${path}#large` })).toMatchObject({ order: { endpoint: `${path}#large` } })
})

test('a payment for another model, or one that is not on record, has the endpoint of now', async () => {
  expect(await find({ ...released, endpoint: `${path}#small` })).toMatchObject({ order: { endpoint: path } })
  expect(await find({ phase: 'unknown', version: 0 })).toMatchObject({ order: { endpoint: path } })
  expect(order.endpoint).not.toBe(path)
})
