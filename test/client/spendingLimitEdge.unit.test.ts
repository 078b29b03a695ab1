import { expect, test } from 'vitest'
import { createBudget } from '@tollbook/client/budget'
import { SpendingLimitExceeded } from '@tollbook/client/spendingLimit'

const cent = 10n ** 16n

const here = { host: 'pay.example', atMs: 0 }

test('one base unit, or one part of a dollar, more than the limit is refused', () => {
  const inUnits = () => createBudget({ perRequest: { baseUnits: 1_000n } })
  expect(() => inUnits().reserve({ attoUsd: 0n, baseUnits: 1_000n, ...here })).not.toThrow()
  expect(() => inUnits().reserve({ attoUsd: 0n, baseUnits: 1_001n, ...here })).toThrow(SpendingLimitExceeded)
  const inDollars = () => createBudget({ perRequest: { usd: '0.01' } })
  expect(() => inDollars().reserve({ attoUsd: cent, baseUnits: 0n, ...here })).not.toThrow()
  expect(() => inDollars().reserve({ attoUsd: cent + 1n, baseUnits: 0n, ...here })).toThrow(SpendingLimitExceeded)
})

test('the total has no tolerance either', () => {
  const budget = createBudget({ perRequest: { baseUnits: 1_000n }, total: { baseUnits: 1_500n } })
  budget.reserve({ attoUsd: 0n, baseUnits: 1_000n, ...here })
  expect(() => budget.reserve({ attoUsd: 0n, baseUnits: 501n, ...here })).toThrow(SpendingLimitExceeded)
  expect(() => budget.reserve({ attoUsd: 0n, baseUnits: 500n, ...here })).not.toThrow()
})
