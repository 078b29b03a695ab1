import { expect, test } from 'vitest'
import { createBudget, SpendingLimitExceeded } from '@tollbook/client/spendingLimit'

const cent = 10n ** 16n

test('one base unit, or one part of a dollar, more than the limit is refused', () => {
  const inUnits = () => createBudget({ perRequest: { baseUnits: 1_000n } })
  expect(() => inUnits().reserve({ attoUsd: 0n, baseUnits: 1_000n })).not.toThrow()
  expect(() => inUnits().reserve({ attoUsd: 0n, baseUnits: 1_001n })).toThrow(SpendingLimitExceeded)
  const inDollars = () => createBudget({ perRequest: { usd: '0.01' } })
  expect(() => inDollars().reserve({ attoUsd: cent, baseUnits: 0n })).not.toThrow()
  expect(() => inDollars().reserve({ attoUsd: cent + 1n, baseUnits: 0n })).toThrow(SpendingLimitExceeded)
})

test('the total has no tolerance either', () => {
  const budget = createBudget({ perRequest: { baseUnits: 1_000n }, total: { baseUnits: 1_500n } })
  budget.reserve({ attoUsd: 0n, baseUnits: 1_000n })
  expect(() => budget.reserve({ attoUsd: 0n, baseUnits: 501n })).toThrow(SpendingLimitExceeded)
  expect(() => budget.reserve({ attoUsd: 0n, baseUnits: 500n })).not.toThrow()
})
