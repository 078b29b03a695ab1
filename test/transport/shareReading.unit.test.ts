import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { shareReading } from '../../src/transport/shareReading.ts'

function openReading() {
  let nowMs = 0
  const readings: PromiseWithResolvers<number>[] = []
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const read = () => {
    const reading = Promise.withResolvers<number>()
    readings.push(reading)
    return reading.promise
  }
  return { take: shareReading({ clock, ageMaxMs: 1_000, read }), readings, pass: (ms: number) => (nowMs += ms) }
}

test('callers of one moment share a reading, and later ones its result until it is old', async () => {
  const { take, readings, pass } = openReading()
  const callers = [take(), take()]
  // A reading that takes long is not started a second time.
  pass(5_000)
  callers.push(take())
  readings[0]?.resolve(1)
  expect(await Promise.all(callers)).toEqual([1, 1, 1])
  // Its age counts from its start, so the next caller reads again.
  const next = take()
  expect(readings).toHaveLength(2)
  readings[1]?.resolve(2)
  expect(await next).toBe(2)
  pass(999)
  expect(await take()).toBe(2)
  pass(1)
  void take()
  expect(readings).toHaveLength(3)
})

test('a failure is shared by those who wait for it, and not remembered', async () => {
  const { take, readings } = openReading()
  const callers = [take(), take()]
  readings[0]?.reject(new Error('no answer'))
  const outcomes = await Promise.allSettled(callers)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = take()
  readings[1]?.resolve(2)
  expect(await next).toBe(2)
})
