import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatDecimal } from '@tollbook/core/money'
import { attoUsdOf } from '@tollbook/client/checkQuote'
import { createBudget } from '@tollbook/client/budget'
import { type Ceiling, SpendingLimitExceeded } from '@tollbook/client/spendingLimit'

const amount = fc.bigInt(0n, 10n ** 24n)
const cost = fc.record({ attoUsd: amount, baseUnits: amount })
const usd = (attoUsd: bigint) => formatDecimal(attoUsd, 18)

function fits(reserve: () => unknown): boolean {
  try {
    reserve()
    return true
  } catch (error) {
    if (error instanceof SpendingLimitExceeded) return false
    throw error
  }
}

const here = { host: 'pay.example', atMs: 0 }

test('a request is within the limit exactly when it costs no more in either unit', () => {
  fc.assert(
    fc.property(cost, cost, (asked, allowed) => {
      const within = [asked.attoUsd <= allowed.attoUsd, asked.baseUnits <= allowed.baseUnits] as const
      const reserve = (perRequest: Ceiling) => fits(() => createBudget({ perRequest }).reserve({ ...asked, ...here }))
      expect(reserve({ usd: usd(allowed.attoUsd) })).toBe(within[0])
      expect(reserve({ baseUnits: allowed.baseUnits })).toBe(within[1])
      expect(reserve({ usd: usd(allowed.attoUsd), baseUnits: allowed.baseUnits })).toBe(within[0] && within[1])
    }),
  )
})

test('whatever is reserved and released, what is spent never exceeds the total', () => {
  const step = fc.record({ asked: cost, isReleased: fc.boolean() })
  fc.assert(
    fc.property(cost, fc.array(step, { maxLength: 30 }), (total, steps) => {
      const ceiling = { usd: usd(total.attoUsd), baseUnits: total.baseUnits }
      const budget = createBudget({ perRequest: { usd: usd(10n ** 30n) }, total: ceiling })
      let spent = { attoUsd: 0n, baseUnits: 0n }
      for (const { asked, isReleased } of steps) {
        const after = { attoUsd: spent.attoUsd + asked.attoUsd, baseUnits: spent.baseUnits + asked.baseUnits }
        const mayFit = after.attoUsd <= total.attoUsd && after.baseUnits <= total.baseUnits
        expect(fits(() => isReleased && budget.reserve({ ...asked, ...here }).release())).toBe(!isReleased || mayFit)
        if (!isReleased) expect(fits(() => budget.reserve({ ...asked, ...here }))).toBe(mayFit)
        if (!isReleased && mayFit) spent = after
      }
      expect(spent.attoUsd <= total.attoUsd && spent.baseUnits <= total.baseUnits).toBe(true)
    }),
  )
})

test('a limit that is not a plain decimal, or that limits nothing, is refused on construction', () => {
  for (const text of ['', '1e3', '-1', '0x10', '1,5', '.5', 'Infinity', '0.0000000000000000001'])
    expect(() => createBudget({ perRequest: { usd: text } })).toThrow(TypeError)
  expect(() => createBudget(JSON.parse('{"perRequest":{}}'))).toThrow(TypeError)
})

test('the excess says both numbers, what is left of the total being the second', () => {
  const budget = createBudget({ perRequest: { usd: '1' }, total: { usd: '0.05' } })
  budget.reserve({ attoUsd: 30_000_000_000_000_000n, baseUnits: 1n, ...here })
  const again = () => budget.reserve({ attoUsd: 30_000_000_000_000_000n, baseUnits: 1n, ...here })
  expect(again).toThrow('asks 0.03 USD, and the spending limit leaves 0.02 USD in total')
})

test('a price in a JSON body is read as the decimal that was written, down to a token of a billionth of a cent', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n), fc.integer({ min: 0, max: 18 }), (digits, scale) => {
      const text = formatDecimal(digits, scale)
      expect(attoUsdOf(JSON.parse(text) as number)).toBe(digits * 10n ** BigInt(18 - scale))
    }),
  )
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, 1e40]) expect(attoUsdOf(value)).toBeUndefined()
})
