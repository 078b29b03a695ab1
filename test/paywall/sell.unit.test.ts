import { expect, test } from 'vitest'
import { sell } from '../../src/paywall/paywall.ts'
import type { PaymentState } from '../../src/payment/payment.ts'
import type { PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { Serving } from '../../src/paywall/serving.ts'
import { silentLog } from '../../src/machine/log.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { requestOf } from './requestOf.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'
import { defaultTokenNames } from '../../src/pricing/tokenNames.ts'

const settlement = settlementOf(referenceNumber(1))
const { reference, wallet } = settlement
const unknownPayment: PaymentState = { phase: 'unknown', version: 0 }
const { endpoint } = order
const submitted: PaymentState = { phase: 'submitted', version: 1, wallet, endpoint, transactionBase64: 'AA==' }
const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0, sleep: () => Promise.resolve() }

test('a claim is decided on the state that the rail has recorded, so it takes one append and no second lookup', async () => {
  const changes: PaymentChange[] = []
  let lookUps = 0
  const ledger: PaymentLedger = {
    ...unusedLedger,
    append(change) {
      changes.push(change)
      return Promise.resolve({ outcome: 'idempotency_key_reused' })
    },
    lookUp() {
      lookUps++
      return Promise.resolve({ payment: unknownPayment, reference, earlier: undefined, stored: undefined })
    },
  }
  const rail = {
    ...scriptedRail('toll'),
    read: () => ({ payer: wallet, proof: { reference } }),
    settle: () => Promise.resolve({ verdict: settlement, payment: submitted }),
  }
  const deps = {
    clock,
    ledger,
    log: silentLog,
    rails: [rail],
    quoteTtlMs: 1_000,
    token: defaultTokenNames,
    handlerTimeoutMs: 1_000,
    leaseMs: 60_000,
    attemptsMax: 10,
    currentPrice: () => undefined,
    whyClosed: () => undefined,
    whyNoQuotes: () => undefined,
    whyExposed: () => Promise.resolve(undefined),
    serving: new Serving(),
    signReceipt: unused,
    onFault: (fault: Error) => expect.unreachable(fault.message),
  }
  const ordered = {
    endpoint,
    parameters: {},
    whyUnavailable: () => undefined,
    whyUndeliverable: () => undefined,
    whyNoData: () => undefined,
    deliver: unused,
  }
  const claims: object[] = []
  const request = {
    ...requestOf({ headers: { toll: 'x', 'toll-proof': 'x' } }),
    requestId: 'request',
    readParameters: () => Promise.resolve(ordered),
    limitQuotes: () => undefined,
    limitLookups: () => undefined,
    onClaimed: (claimed: object) => void claims.push(claimed),
  }
  await sell(deps, { path: endpoint, method: 'GET' }, request)
  expect(changes).toMatchObject([{ step: 'payment.claim', before: submitted }])
  expect(lookUps).toBe(1)
  // A claim that fails earns nothing, however often the payment is presented.
  expect(claims).toEqual([])
})
