import { expect, test } from 'vitest'
import { assert } from '@tollbook/core/assert'
import { isRefusal } from '@tollbook/core/refusal'
import { Fault } from '@tollbook/core/fault'
import { silentLog } from '../../src/machine/log.ts'
import { claimPayment } from '../../src/paywall/claim.ts'
import { createStreamReader } from '../../src/paywall/runHandler.ts'
import { startStream } from '../../src/paywall/streamAnswer.ts'
import { evolve, unknownPayment } from '../../src/payment/payment.ts'
import type { AppendOutcome, PaymentChange, PaymentLedger } from '../../src/payment/paymentLedger.ts'
import { heldClock } from '../jobs/jobFixture.ts'
import { order, referenceNumber, settlementOf } from '../payment/paymentStory.ts'
import { scriptedRail } from './scriptedRail.ts'
import { unused, unusedLedger } from './unusedLedger.ts'

/* The start of a stream: the ledger first, then the first byte. */

function appended({ before, events, nowMs }: PaymentChange): AppendOutcome {
  const after = events.reduce((state, event) => evolve(state, event, nowMs), before)
  return { outcome: 'appended', after, recordedAtMs: nowMs, leaves: [] }
}

async function start(append: PaymentLedger['append'], limits = { leaseMs: 60_000, handlerTimeoutMs: 40_000 }) {
  const settlement = settlementOf(referenceNumber(1))
  const ledger: PaymentLedger = { ...unusedLedger, lookUp: unused, append: async (change) => appended(change) }
  const claim = await claimPayment(
    { clock: heldClock, ledger, leaseMs: limits.leaseMs, attemptsMax: 10 },
    { order, settlement, payment: unknownPayment, idempotencyKey: undefined },
  )
  assert(!isRefusal(claim), 'a first claim is granted')
  let aborts = 0
  const deps = {
    ...limits,
    clock: heldClock,
    log: silentLog,
    ledger: { ...ledger, append },
    attemptsMax: 10,
    signReceipt: unused,
    rail: scriptedRail('native'),
  }
  async function* chunks() {
    yield await Promise.resolve(Buffer.from('word'))
  }
  const bounds = { bytesMax: 100, timeMaxMs: limits.handlerTimeoutMs, storedBytesMax: 100 }
  const stream = {
    kind: 'stream',
    contentType: 'text/plain',
    meta: { source: 'test', asOf: '2026-11-22T00:00:00.000Z', cached: false },
    reader: createStreamReader(heldClock, { chunks: chunks(), abort: () => void aborts++ }, bounds),
  } as const
  const answer = startStream(deps, claim, stream)
  return { answer, aborts: () => aborts }
}

test.each([
  [60_000, 40_000],
  [120_000, 100_000],
  [300_000, 30_000],
])('with a lease of %i ms, provider (%i ms) and caller are done before it ends', async (leaseMs, handlerTimeoutMs) => {
  const { answer } = await start(async (change) => appended(change), { leaseMs, handlerTimeoutMs })
  const started = await answer
  assert('callerWaitMaxMs' in started, 'the stream has started')
  const waitMs = started.callerWaitMaxMs
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs + handlerTimeoutMs).toBeLessThanOrEqual(leaseMs)
})

test('a start that the ledger does not take stops the provider, and no byte is sent', async () => {
  const overtaken = await start(async () => ({ outcome: 'conflict' }))
  expect(await overtaken.answer).toMatchObject({ code: 'PAYMENT_IN_PROGRESS' })
  expect(overtaken.aborts()).toBe(1)
  const lost = await start(() => Promise.reject(new Fault('the database is away', { retryable: true })))
  await expect(lost.answer).rejects.toThrow('the database is away')
  expect(lost.aborts()).toBe(1)
})
