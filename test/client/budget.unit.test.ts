import { expect, test } from 'vitest'
import { createBudget, type Spending } from '@tollbook/client/budget'
import { SpendingLimitExceeded } from '@tollbook/client/spendingLimit'

const dayMs = 86_400_000
const perRequest = { baseUnits: 1_000n }

function spending(baseUnits: bigint, { host = 'a.example', atMs = 0 } = {}): Spending {
  return { attoUsd: 0n, baseUnits, host, atMs }
}

function scopeOf(reserve: () => unknown): string {
  try {
    reserve()
    return 'fits'
  } catch (error) {
    if (error instanceof SpendingLimitExceeded) return `${error.scope}: ${error.asked} of ${error.allowed}`
    throw error
  }
}

test('the limit of a day counts the 24 hours before a payment, on every host', () => {
  const budget = createBudget({ perRequest, perDay: { baseUnits: 100n } })
  budget.reserve(spending(60n, { atMs: 1 }))
  budget.reserve(spending(40n, { atMs: 2, host: 'b.example' }))
  expect(scopeOf(() => budget.reserve(spending(1n, { atMs: dayMs })))).toBe('per day: 1 of 0')
  expect(scopeOf(() => budget.reserve(spending(61n, { atMs: dayMs + 1 })))).toBe('per day: 61 of 60')
  expect(scopeOf(() => budget.reserve(spending(60n, { atMs: dayMs + 1 })))).toBe('fits')
})

test('a limit of a UTC day begins again at midnight, and not for a clock that goes back', () => {
  const budget = createBudget({ perRequest, perDay: { baseUnits: 100n }, day: 'utc' })
  budget.reserve(spending(100n, { atMs: dayMs - 1 }))
  expect(scopeOf(() => budget.reserve(spending(1n, { atMs: 1 })))).toBe('per day: 1 of 0')
  expect(scopeOf(() => budget.reserve(spending(100n, { atMs: dayMs })))).toBe('fits')
  expect(scopeOf(() => budget.reserve(spending(1n, { atMs: 2 * dayMs - 1 })))).toBe('per day: 1 of 0')
  expect(scopeOf(() => budget.reserve(spending(1n, { atMs: 5 })))).toBe('per day: 1 of -100')
})

test('a clock that goes back does not begin a new day', () => {
  const budget = createBudget({ perRequest, perDay: { baseUnits: 100n } })
  budget.reserve(spending(100n, { atMs: 10 * dayMs }))
  expect(scopeOf(() => budget.reserve(spending(1n, { atMs: 0 })))).toBe('per day: 1 of 0')
})

test('the limit of a host counts each host alone, port included, at any time', () => {
  const budget = createBudget({ perRequest, perHost: { baseUnits: 100n } })
  budget.reserve(spending(100n, { host: 'a.example' }))
  expect(scopeOf(() => budget.reserve(spending(1n, { host: 'a.example', atMs: 99 * dayMs })))).toBe('per host: 1 of 0')
  expect(scopeOf(() => budget.reserve(spending(100n, { host: 'a.example:8443' })))).toBe('fits')
})

test('spending by others counts, and what is released counts no more', () => {
  const budget = createBudget({ perRequest, total: { baseUnits: 100n } })
  const byOthers = [spending(70n), spending(20n)]
  const reservation = budget.reserve(spending(10n), byOthers)
  expect(scopeOf(() => budget.reserve(spending(1n), byOthers))).toBe('in total: 1 of 0')
  reservation.release()
  expect(scopeOf(() => budget.reserve(spending(10n), byOthers))).toBe('fits')
  expect(() => reservation.release()).toThrow('released once')
})

test('a ceiling of each scope has to be an amount', () => {
  for (const scope of ['perDay', 'perHost', 'total'])
    expect(() => createBudget({ perRequest, [scope]: { usd: 'ten' } })).toThrow(TypeError)
})
