import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeOf, meteredPriceOf, outputWithin } from '../../src/pricing/meteredPrice.ts'
import { parseMeteredPrices } from '../../src/pricing/parseMeteredPrices.ts'

const price = fc.record({
  inputPerMillionMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 10n }),
  outputPerMillionMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 10n }),
  minimumMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 6n }),
})
const units = fc.nat({ max: 200_000 })

test('a charge is the price of each unit, rounded up once, and never less than the minimum', () => {
  fc.assert(
    fc.property(price, units, units, (given, input, output) => {
      const charge = chargeOf(given, { input, output })
      const exact = BigInt(input) * given.inputPerMillionMicroUsd + BigInt(output) * given.outputPerMillionMicroUsd
      expect(charge >= given.minimumMicroUsd).toBe(true)
      expect(charge * 1_000_000n >= exact).toBe(true)
      if (charge > given.minimumMicroUsd) expect((charge - 1n) * 1_000_000n < exact).toBe(true)
    }),
  )
})

test('the output within a budget costs no more than the budget, and one unit more would', () => {
  fc.assert(
    fc.property(price, units, fc.bigInt({ min: 0n, max: 10n ** 9n }), (given, input, budgetMicroUsd) => {
      const output = outputWithin(given, { input, budgetMicroUsd })
      const costs = (units: number) => chargeOf(given, { input, output: units })
      if (output === undefined) expect(costs(1) > budgetMicroUsd).toBe(true)
      else if (output < 2 ** 50) {
        expect(costs(output) <= budgetMicroUsd).toBe(true)
        expect(costs(output + 1) > budgetMicroUsd).toBe(true)
      }
    }),
  )
})

test('without a stated price, a full answer costs the fixed price and a short one the minimum', () => {
  const given = meteredPriceOf(50_000n, 1_024)
  expect(chargeOf(given, { input: 4_000, output: 1_024 })).toBeGreaterThanOrEqual(50_000n)
  expect(chargeOf(given, { input: 4_000, output: 1_024 })).toBeLessThan(50_010n)
  expect(chargeOf(given, { input: 1, output: 1 })).toBe(1_000n)
})

test('token prices are dollars per million tokens, with a minimum where one is given', () => {
  expect(parseMeteredPrices('small=0.2:0.8, vendor/large=3:12:0.001')).toEqual({
    ok: true,
    value: new Map([
      ['small', { inputPerMillionMicroUsd: 200_000n, outputPerMillionMicroUsd: 800_000n, minimumMicroUsd: 1n }],
      [
        'vendor/large',
        { inputPerMillionMicroUsd: 3_000_000n, outputPerMillionMicroUsd: 12_000_000n, minimumMicroUsd: 1_000n },
      ],
    ]),
  })
})

test.each([
  ['large', 'has "large": write model=input:output'],
  ['large=1', 'has "large=1": write model=input:output'],
  ['large=0:1', 'has "large=0:1": write model=input:output'],
  ['large=1:2:3:4', 'has "large=1:2:3:4": write model=input:output'],
  ['large=1:20000', 'has "large=1:20000": write model=input:output'],
  ['large=1:2:0', 'has "large=1:2:0": the price must be a decimal number'],
  ['large=1:2:10000.1', 'has "large=1:2:10000.1": the price must be a decimal number'],
  ['large=1:2,large=2:3', 'names "large" more than once'],
])('%j is refused with the entry and the fix', (setting, problem) => {
  const parsed = parseMeteredPrices(setting)
  expect(parsed.ok ? [] : parsed.problems).toEqual([expect.stringContaining(problem)])
})
