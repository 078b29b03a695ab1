import type { deserialize } from 'node:v8'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { QueryRunner } from '@tollbook/ledger/database'
import { readManyEvents } from '@tollbook/ledger/readEvents'
import { createReadQueue } from '@tollbook/ledger/readQueue'

/**
 * A connection to a ledger without streams. It records the names of its statements. With `refusesMany` it fails those
 * that read several streams.
 */
function countingRunner({ refusesMany = false } = {}) {
  const names: unknown[] = []
  // Typed as the answer of a wire: the caller of `query` says what it expects.
  const query = (asked: unknown): ReturnType<typeof deserialize> => {
    const { name } = z.object({ name: z.string() }).parse(asked)
    names.push(name)
    return refusesMany && name === 'ledger_read_many'
      ? Promise.reject(new Error('streams of 2 events were read as 1'))
      : Promise.resolve({ rows: [] })
  }
  const runner: QueryRunner = { query: (asked: unknown) => query(asked) }
  return { names, runner }
}

const streams = Array.from({ length: 20 }, (_, n) => Uint8Array.of(1, n))

test('lookups at the same moment share one statement, and a lone one is read alone', async () => {
  const { names, runner } = countingRunner()
  const queue = createReadQueue(runner)
  expect(await Promise.all(streams.map((stream) => queue.submit(stream)))).toEqual(streams.map(() => []))
  await queue.submit(Uint8Array.of(1, 99))
  expect(names).toEqual(['ledger_read_many', 'ledger_read'])
})

test('more streams than one statement reads are read by several, each of them once', async () => {
  const counts: number[] = []
  // The count of elements in the head of a binary array.
  const query = ({ values: [ids] }: { values: readonly [Buffer] }): ReturnType<typeof deserialize> => {
    counts.push(ids.readInt32BE(12))
    return Promise.resolve({ rows: [] })
  }
  const runner: QueryRunner = { query: (asked: ReturnType<typeof deserialize>) => query(asked) }
  const many = Array.from({ length: 1_001 }, (_, n) => Uint8Array.of(1, n % 256, n >> 8))
  expect(await readManyEvents(runner, many)).toEqual(many.map(() => []))
  expect(counts).toEqual([1_000, 1])
})

test('a shared statement that fails makes no lookup fail that can be read alone', async () => {
  const { names, runner } = countingRunner({ refusesMany: true })
  const queue = createReadQueue(runner)
  expect(await Promise.all(streams.map((stream) => queue.submit(stream)))).toEqual(streams.map(() => []))
  expect(names).toHaveLength(streams.length + 1)
})
