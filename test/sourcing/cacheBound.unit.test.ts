import { LRUCache } from 'lru-cache'
import { expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { cacheBound } from '../../src/sourcing/cacheBound.ts'
import { createMissBudget } from '../../src/sourcing/missBudget.ts'

test('a cache holds as many items as its bound, the latest ones', () => {
  const cache = new LRUCache<string, readonly number[]>({ ...cacheBound(3), ttl: 60_000 })
  for (const key of ['a', 'b', 'c', 'd', 'e', 'e']) cache.set(key, [1, 2, 3])
  expect([...cache.keys()].toSorted()).toEqual(['c', 'd', 'e'])
})

test('of lookups that begin at once, only those without an answer are counted, and for ten minutes', () => {
  let nowMs = 0
  const budget = createMissBudget({ ...systemClock, monotonicMs: () => nowMs })
  const why = (buyer: string) => budget.whyRefused(buyer)?.message
  const lookups = Array.from({ length: 20 }, () => budget.begin('buyer'))
  expect(why('buyer')).toMatch(/20 lookups in progress/)
  expect(why('other')).toBeUndefined()
  for (const [index, end] of lookups.entries()) end(index < 2)
  expect(why('buyer')).toBeUndefined()
  nowMs = 1
  budget.begin('buyer')(true)
  expect(why('buyer')).toMatch(/3 items within 10 minutes/)
  nowMs = 599_999
  expect(why('buyer')).toBeDefined()
  nowMs = 600_000
  expect(why('buyer'), 'ten minutes after the first').toBeUndefined()
})
