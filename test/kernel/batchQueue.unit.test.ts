import { expect, test } from 'vitest'
import { type BatchQueue, type BatchQueueOptions, createBatchQueue } from '@tollbook/ledger/batchQueue'

type Limits = Pick<BatchQueueOptions<string, string>, 'batchMax' | 'flushesMax' | 'waitingMax' | 'gathering'>

interface Bench {
  readonly queue: BatchQueue<string, string>
  readonly batches: string[][]
  /** Ends the oldest flush in progress. */
  finish(fail?: Error): Promise<void>
}

/** A queue whose flushes end when the test says so; `x!` is an item that fails alone. */
function openBench({ batchMax = 3, flushesMax = 2, waitingMax = 10, gathering }: Partial<Limits> = {}): Bench {
  const batches: string[][] = []
  const gates: { open: () => void; fail: (error: Error) => void }[] = []
  const queue = createBatchQueue<string, string>({
    batchMax,
    flushesMax,
    waitingMax,
    ...(gathering === undefined ? {} : { gathering }),
    keyOf: (item) => item[0] ?? '',
    flush: async (batch) => {
      batches.push([...batch])
      const gate = Promise.withResolvers<void>()
      gates.push({ open: gate.resolve, fail: gate.reject })
      await gate.promise
      return batch.map((item) =>
        item.endsWith('!')
          ? { status: 'rejected', reason: new Error(item) }
          : { status: 'fulfilled', value: `${item} done` },
      )
    },
  })
  const finish = async (fail?: Error): Promise<void> => {
    const gate = gates.shift()
    if (fail === undefined) gate?.open()
    else gate?.fail(fail)
    await turns()
  }
  return { queue, batches, finish }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('what gathers in one turn of the loop is one batch, and a lone item waits for nothing', async () => {
  const { queue, batches, finish } = openBench()
  const both = Promise.all([queue.submit('a'), queue.submit('b')])
  await turns()
  expect(batches).toEqual([['a', 'b']])
  await finish()
  expect(await both).toEqual(['a done', 'b done'])
})

test('while one batch is in progress a second starts only when it is full, and a third never', async () => {
  const { queue, batches, finish } = openBench()
  const all = [queue.submit('a')]
  await turns()
  all.push(queue.submit('b'), queue.submit('c'))
  await turns()
  expect(batches).toEqual([['a']])
  all.push(...['d', 'e', 'f', 'g', 'h', 'i'].map((item) => queue.submit(item)))
  await turns()
  expect(batches).toEqual([['a'], ['b', 'c', 'd']])
  await finish()
  expect(batches[2]).toEqual(['e', 'f', 'g'])
  await finish()
  await finish()
  expect(batches[3]).toEqual(['h', 'i'])
  await finish()
  expect(await Promise.all(all)).toHaveLength(9)
})

test('two items of one key are never in progress together, and stay in their order', async () => {
  const { queue, batches, finish } = openBench()
  const all = Promise.all(['a1', 'a2', 'b1', 'a3'].map((item) => queue.submit(item)))
  await turns()
  expect(batches).toEqual([['a1', 'b1']])
  await finish()
  expect(batches[1]).toEqual(['a2'])
  await finish()
  expect(batches[2]).toEqual(['a3'])
  await finish()
  expect(await all).toEqual(['a1 done', 'a2 done', 'b1 done', 'a3 done'])
})

test('an item that fails alone does not fail its neighbours', async () => {
  const { queue, finish } = openBench()
  const all = Promise.allSettled(['a', 'b!', 'c'].map((item) => queue.submit(item)))
  await turns()
  await finish()
  expect(await all).toMatchObject([{ value: 'a done' }, { reason: { message: 'b!' } }, { value: 'c done' }])
})

test('a flush that fails as a whole fails all of its items and none of the next', async () => {
  const { queue, finish } = openBench()
  const first = Promise.allSettled([queue.submit('a'), queue.submit('b')])
  await turns()
  const next = queue.submit('c')
  await finish(new Error('gone'))
  expect(await first).toMatchObject([{ reason: { message: 'gone' } }, { reason: { message: 'gone' } }])
  await finish()
  expect(await next).toBe('c done')
})

test('beyond its bound the queue refuses with a retryable fault, and takes again when there is room', async () => {
  const { queue, finish } = openBench({ waitingMax: 2, flushesMax: 1 })
  const first = queue.submit('a')
  await turns()
  const waiting = [queue.submit('b'), queue.submit('c')]
  await expect(queue.submit('d')).rejects.toMatchObject({ name: 'Fault', retryable: true })
  await finish()
  const late = queue.submit('e')
  await finish()
  await finish()
  expect(await Promise.all([first, ...waiting, late])).toEqual(['a done', 'b done', 'c done', 'e done'])
})

test('drained waits for queued items and items in progress, and returns immediately without any', async () => {
  const { queue, finish } = openBench({ flushesMax: 1 })
  await queue.drained()
  const all = ['a1', 'a2'].map((item) => queue.submit(item))
  let isDrained = false
  const drained = queue.drained().then(() => (isDrained = true))
  await turns()
  await finish()
  expect(isDrained).toBe(false)
  await finish()
  await drained
  expect(await Promise.all(all)).toEqual(['a1 done', 'a2 done'])
})

/** Pauses that end, and a clock that goes on, when the test says so. */
function openPauses() {
  const pauses: (() => void)[] = []
  const flushesMs: number[] = []
  let now = 0
  const pause = async (lastFlushMs: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    flushesMs.push(lastFlushMs)
    pauses.push(resolve)
    await promise
  }
  const end = async () => {
    pauses.shift()?.()
    await turns()
  }
  const passMs = (ms: number) => void (now += ms)
  return { pause, end, count: () => pauses.length, flushesMs, passMs, monotonicMs: () => now }
}

test('a lone caller never waits for items to gather', async () => {
  const { pause, monotonicMs, count } = openPauses()
  const { queue, batches, finish } = openBench({ gathering: { itemsEnough: 3, pause, monotonicMs } })
  for (const item of ['a', 'b', 'c']) {
    const done = queue.submit(item)
    await turns()
    await finish()
    await done
  }
  expect(batches).toEqual([['a'], ['b'], ['c']])
  expect(count()).toBe(0)
})

test('after callers have overlapped a small batch waits for the pause, and a batch that is large enough does not', async () => {
  const { pause, monotonicMs, end } = openPauses()
  const { queue, batches, finish } = openBench({ batchMax: 9, gathering: { itemsEnough: 3, pause, monotonicMs } })
  const all = [queue.submit('a'), queue.submit('b')]
  await turns()
  await finish()
  all.push(queue.submit('c'))
  await turns()
  expect(batches).toEqual([['a', 'b']])
  await end()
  expect(batches[1]).toEqual(['c'])
  await finish()
  all.push(...['d', 'e', 'f'].map((item) => queue.submit(item)))
  await turns()
  expect(batches[2]).toEqual(['d', 'e', 'f'])
  await finish()
  expect(await Promise.all(all)).toHaveLength(6)
})

test('drained waits for the end of a pause too', async () => {
  const { pause, monotonicMs, end } = openPauses()
  const { queue, finish } = openBench({ gathering: { itemsEnough: 3, pause, monotonicMs } })
  const all = [queue.submit('a'), queue.submit('b')]
  await turns()
  await finish()
  all.push(queue.submit('c'))
  const drained = queue.drained()
  await turns()
  await end()
  await finish()
  await drained
  expect(await Promise.all(all)).toEqual(['a done', 'b done', 'c done'])
})

test('a batch starts within its pause once every caller of the last one has called again', async () => {
  const { pause, monotonicMs, count } = openPauses()
  const { queue, batches, finish } = openBench({ batchMax: 9, gathering: { itemsEnough: 9, pause, monotonicMs } })
  const all = [queue.submit('a')]
  await turns()
  all.push(queue.submit('b'), queue.submit('c'))
  await turns()
  await finish()
  await finish()
  expect(batches).toEqual([['a'], ['b', 'c']])
  all.push(queue.submit('d'))
  await turns()
  expect([batches.length, count()]).toEqual([2, 1])
  all.push(queue.submit('e'))
  await turns()
  expect(batches[2]).toEqual(['d', 'e'])
  await finish()
  expect(await Promise.all(all)).toHaveLength(5)
})

test('a pause gets the duration of the last flush', async () => {
  const { pause, monotonicMs, passMs, end, flushesMs } = openPauses()
  const { queue, finish } = openBench({ gathering: { itemsEnough: 3, pause, monotonicMs } })
  const both = Promise.all([queue.submit('a1'), queue.submit('a2')])
  await turns()
  passMs(5)
  await finish()
  await end()
  expect(flushesMs).toEqual([0, 5])
  await finish()
  expect(await both).toEqual(['a1 done', 'a2 done'])
})

test('after a slow flush a batch takes more items, and after a quick one as many as before', async () => {
  const { pause, monotonicMs, passMs } = openPauses()
  const gathering = { itemsEnough: 1, pause, monotonicMs, slow: { ms: 8, batchMax: 4 } }
  const { queue, batches, finish } = openBench({ batchMax: 2, flushesMax: 1, gathering })
  const items = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  const all = Promise.all(items.map((item) => queue.submit(item)))
  await turns()
  passMs(8)
  await finish()
  passMs(7)
  for (let flush = 0; flush < 4; flush++) await finish()
  expect(batches.map((batch) => batch.length)).toEqual([2, 4, 2, 2])
  await all
})
