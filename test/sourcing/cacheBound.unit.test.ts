import { LRUCache } from 'lru-cache'
import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { cacheBound } from '../../src/sourcing/cacheBound.ts'
import { createMissBudget } from '../../src/sourcing/missBudget.ts'

test('a cache holds as many items as its bound, the latest ones', () => {
  const cache = new LRUCache<string, readonly number[]>({ ...cacheBound(3), ttl: 60_000 })
  for (const key of ['a', 'b', 'c', 'd', 'e', 'e']) cache.set(key, [1, 2, 3])
  expect([...cache.keys()].toSorted()).toEqual(['c', 'd', 'e'])
})

test('of lookups that begin at once, only the one with an answer is not counted', () => {
  let nowMs = 0
  const budget = createMissBudget({ ...systemClock, monotonicMs: () => nowMs })
  const [found, ...missed] = [1, 2, 3].map(() => assertPresent(budget.begin('buyer'), 'the budget has room'))
  expect([budget.begin('buyer'), budget.mayBegin('other')]).toEqual([undefined, true])
  found?.(false)
  for (const end of missed) end(true)
  expect(budget.begin('buyer')).toBeDefined()
  expect(budget.mayBegin('buyer')).toBe(false)
  nowMs = 600_000
  expect(budget.mayBegin('buyer'), 'ten minutes later').toBe(true)
})
