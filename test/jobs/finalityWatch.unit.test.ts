import { expect, test } from 'vitest'
import { startFinalityJob } from '../../src/jobs/finalityJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import { transactionReference } from '../../src/payment/paymentReference.ts'
import { settlementOf } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'
import { lifecycleWith, signatureNumber } from './jobFixture.ts'

const unused = (): never => {
  throw new Error('this test asks for nothing more')
}
const minuteMs = 60_000

/** Watches one payment, which a node has below finality until the chain drops it. */
function openWatch() {
  const stepped = steppedClock()
  let [laterMs, isOpen, isDropped] = [0, true, false]
  const clock = { ...stepped, nowMs: () => stepped.nowMs() + laterMs }
  const reference = transactionReference(signatureNumber(1))
  const createdAtMs = clock.nowMs()
  const settlement = settlementOf(reference)
  const { endpoint } = settlement.price
  const fulfilled = { phase: 'fulfilled', version: 5, settlement, attempt: 1, endpoint, isFinal: false } as const
  const watch = startFinalityJob({
    clock,
    log: silentLog,
    onStep: () => undefined,
    tabs: { close: unused },
    payments: {
      append({ before }) {
        isOpen = false
        return Promise.resolve({ outcome: 'appended', after: before, recordedAtMs: 0, leaves: [] })
      },
    },
    lifecycle: lifecycleWith({
      findOpen: () => Promise.resolve(isOpen ? [{ reference, createdAtMs, position: 1 }] : []),
      loadPayments: () => Promise.resolve(new Map([[reference, fulfilled]])),
      async runElected(_name, work) {
        await work(lifecycleWith({}))
        return true
      },
    }),
    chain: {
      findStatuses: () =>
        Promise.resolve({ statuses: [isDropped ? undefined : { slot: 1, isFinalized: false, hasFailed: false }] }),
      finalizedSlot: unused,
      findReversal: () => Promise.resolve({ reason: 'failed', finalizedSlot: 9, nodes: 2 }),
      findFinalized: unused,
      listSignatures: unused,
      readTransaction: unused,
    },
    allTerms: unused,
  })
  return {
    watch,
    step: () => stepped.step(),
    /** Sets the time since the payment was recorded. */
    setAge: (ageMs: number) => void (laterMs = createdAtMs + ageMs - stepped.nowMs()),
    drop: () => void (isDropped = true),
  }
}

test('a payment that waits for finality for more than five minutes is a problem until it is decided', async () => {
  const { watch, step, setAge } = openWatch()
  await step()
  expect(watch.problem()).toBeUndefined()
  setAge(5 * minuteMs)
  expect(watch.problem()).toBeUndefined()
  setAge(6 * minuteMs)
  expect(watch.problem()).toBe('a payment has been waiting for finality for 360 s')
  await watch.stop()
})

test('a payment that the chain dropped is a problem for an hour', async () => {
  const { watch, step, setAge, drop } = openWatch()
  drop()
  setAge(6 * minuteMs)
  await step()
  const found = watch.problem()
  expect(found).toContain('has dropped a payment in the last hour')
  setAge(65 * minuteMs)
  expect(watch.problem()).toBe(found)
  await step()
  setAge(67 * minuteMs)
  expect(watch.problem(), 'the payment waits no more').toBeUndefined()
  await watch.stop()
})
