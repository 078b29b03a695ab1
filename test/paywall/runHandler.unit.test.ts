import { Fault } from '@tollbook/core/fault'
import { sampleAddress, samplePrice, sampleReference } from '../store/samplePayment.ts'
import { expect, test } from 'vitest'
import { runHandler } from '../../src/paywall/runHandler.ts'
import type { Job, Outcome, Value } from '../../src/product/product.ts'

const value: Value = {
  kind: 'delivered',
  data: {},
  meta: { source: 'test', asOf: '2026-11-22T00:00:00.000Z', cached: false },
}

/** A clock whose only sleeper wakes when the test says so. */
function openStand(deliver: (job: Job) => Promise<Outcome>) {
  const deadline = Promise.withResolvers<void>()
  const slept: { durationMs: number; signal: AbortSignal | undefined }[] = []
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep(durationMs: number, signal?: AbortSignal) {
      slept.push({ durationMs, signal })
      return deadline.promise
    },
  }
  const why = { whyUnavailable: () => undefined, whyUndeliverable: () => undefined, whyNoData: () => undefined }
  const run = {
    requestId: 'request_1',
    order: { wallet: sampleAddress() },
    settlement: { reference: sampleReference(), price: samplePrice() },
    metering: undefined,
  }
  const ending = runHandler(
    { clock, handlerTimeoutMs: 700 },
    { parameters: {}, endpoint: '/api/x', ...why, deliver },
    run,
  )
  return { ending, slept, wake: deadline.resolve }
}

test('a handler that is in time is answered, and its deadline is no longer waited for', async () => {
  const jobs: Job[] = []
  const { ending, slept } = openStand((job) => {
    jobs.push(job)
    return Promise.resolve(value)
  })
  expect(await ending).toMatchObject({ kind: 'whole', answerJson: expect.stringMatching(/^\{"data":\{\},"meta":/) })
  expect(slept).toMatchObject([{ durationMs: 700, signal: { aborted: true } }])
  expect(jobs).toMatchObject([{ requestId: 'request_1', signal: { aborted: false } }])
})

test('a handler that is late is told to stop, and the caller that there is no answer in time', async () => {
  const signals: AbortSignal[] = []
  const { ending, wake } = openStand(({ signal }) => {
    signals.push(signal)
    return new Promise(() => undefined)
  })
  wake()
  expect(await ending).toMatchObject({
    kind: 'failed',
    code: 'UPSTREAM_TIMEOUT',
    message: expect.stringContaining('700 ms'),
  })
  expect(signals).toMatchObject([{ aborted: true }])
})

test('a handler that fails because it was told to stop is late, and not broken', async () => {
  const { ending, wake } = openStand(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  )
  wake()
  expect(await ending).toMatchObject({ kind: 'failed', code: 'UPSTREAM_TIMEOUT' })
})

test.each([
  [new Fault('no route', { retryable: true }), { kind: 'failed', code: 'UPSTREAM_FAILED' }],
  [new Error('a bug'), { kind: 'broken' }],
])('a handler that throws %s ends as such', async (thrown, outcome) => {
  const deliver = async (): Promise<Outcome> => {
    throw thrown
  }
  expect(await openStand(deliver).ending).toMatchObject(outcome)
})

test.each([
  ['that is too long in bytes fails', 'é'.repeat(4.5 * 1024 * 1024), { kind: 'failed', code: 'UPSTREAM_FAILED' }],
  ['without a canonical text is a bug, and ends as one', '\ud800', { kind: 'broken' }],
])('an answer %s', async (_, data, outcome) => {
  expect(await openStand(async () => ({ ...value, data })).ending).toMatchObject(outcome)
})

test('a stream can be stopped after the handler has returned it', async () => {
  const signals: AbortSignal[] = []
  const stream: Outcome = { ...value, kind: 'stream', contentType: 'text/plain', chunks: (async function* () {})() }
  const outcome = await openStand(({ signal }) => {
    signals.push(signal)
    return Promise.resolve(stream)
  }).ending
  expect(signals).toMatchObject([{ aborted: false }])
  if (outcome.kind === 'stream') outcome.reader.abort()
  expect(signals).toMatchObject([{ aborted: true }])
})
