import { describe, expect, test } from 'vitest'
import { createRenderQueue, type Entry } from '../../../src/outbound/browser/renderQueue.ts'

const patient = new AbortController().signal

function open(limits: Partial<{ placesMax: number; waitingMax: number }> = {}) {
  return createRenderQueue({ placesMax: 2, waitingMax: 3, ...limits })
}

describe('a queue for two jobs at once', () => {
  test('admits two at once, the others in the order in which they came', async () => {
    const queue = open()
    expect(await Promise.all([queue.enter(patient), queue.enter(patient)])).toEqual(['entered', 'entered'])
    const admitted: number[] = []
    const waiting = [1, 2, 3].map((job) => queue.enter(patient).then(() => admitted.push(job)))
    expect(queue.waitingCount()).toBe(3)
    for (const job of [1, 2, 3]) {
      queue.leave()
      await waiting[job - 1]
      expect(admitted.at(-1)).toBe(job)
    }
    expect(queue.waitingCount()).toBe(0)
  })

  test('refuses the job that finds the queue full, and admits again when a place is free', async () => {
    const queue = open({ waitingMax: 0 })
    const entries: Entry[] = await Promise.all([queue.enter(patient), queue.enter(patient), queue.enter(patient)])
    expect(entries).toEqual(['entered', 'entered', 'full'])
    queue.leave()
    expect(await queue.enter(patient)).toBe('entered')
  })

  test('forgets a job that gives up while it waits, and gives its place to the next', async () => {
    const queue = open({ placesMax: 1 })
    await queue.enter(patient)
    const impatient = new AbortController()
    const first = queue.enter(impatient.signal)
    const second = queue.enter(patient)
    impatient.abort()
    expect(await first).toBe('aborted')
    expect(queue.waitingCount()).toBe(1)
    queue.leave()
    expect(await second).toBe('entered')
  })

  test('does not admit a job that has given up before it came', async () => {
    const queue = open()
    expect(await queue.enter(AbortSignal.abort())).toBe('aborted')
    expect(await Promise.all([queue.enter(patient), queue.enter(patient)])).toEqual(['entered', 'entered'])
  })

  test('never runs more than two of a hundred, whatever their order of leaving', async () => {
    const queue = open({ waitingMax: 100 })
    let [running, most] = [0, 0]
    const run = async (job: number) => {
      expect(await queue.enter(patient)).toBe('entered')
      most = Math.max(most, ++running)
      for (let turn = 0; turn < job % 5; turn++) await Promise.resolve()
      running--
      queue.leave()
    }
    await Promise.all(Array.from({ length: 100 }, (_, job) => run(job)))
    expect([running, most, queue.waitingCount()]).toEqual([0, 2, 0])
  })
})

test('a job that leaves twice is a bug', async () => {
  const queue = open()
  await queue.enter(patient)
  queue.leave()
  expect(() => queue.leave()).toThrow('a job that leaves had a place')
})
