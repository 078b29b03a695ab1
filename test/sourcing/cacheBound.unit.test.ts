import { LRUCache } from 'lru-cache'
import { expect, test } from 'vitest'
import { cacheBound } from '../../src/sourcing/cacheBound.ts'

test('a cache holds as many items as its bound, the latest ones', () => {
  const cache = new LRUCache<string, readonly number[]>({ ...cacheBound(3), ttl: 60_000 })
  for (const key of ['a', 'b', 'c', 'd', 'e', 'e']) cache.set(key, [1, 2, 3])
  expect([...cache.keys()].toSorted()).toEqual(['c', 'd', 'e'])
})
