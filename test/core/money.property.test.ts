import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  displayNumber,
  divideRoundingDown,
  divideRoundingUp,
  formatDecimal,
  larger,
  parseBaseUnits,
  parseDecimal,
  parseRoundingDown,
  smaller,
} from '@tollbook/core/money'

const amounts = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const scales = fc.integer({ min: 0, max: 18 })

describe('money', () => {
  test('a decimal that was formatted parses back to the same integer', () => {
    fc.assert(
      fc.property(amounts, scales, (amount, scale) => {
        expect(parseDecimal(formatDecimal(amount, scale), scale)).toBe(amount)
      }),
    )
  })

  test('rounding up and rounding down differ by one exactly when there is a rest', () => {
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 12n }), (total, parts) => {
        const difference = divideRoundingUp(total, parts) - divideRoundingDown(total, parts)
        expect(difference).toBe(total % parts === 0n ? 0n : 1n)
      }),
    )
  })

  test.each(['', '1.', '.5', '01', '1e3', '-1', '+1', ' 1', '1,5', '0x10', 'Infinity', '١'])(
    '%j is not a plain decimal',
    (text) => {
      expect(parseDecimal(text, 6)).toBeUndefined()
    },
  )

  test('more digits than the scale are refused instead of rounded', () => {
    expect(parseDecimal('0.1234567', 6)).toBeUndefined()
    expect(parseDecimal('0.123456', 6)).toBe(123_456n)
  })

  test('base units are read exactly beyond what a number can hold', () => {
    expect(parseBaseUnits('9007199254740993')).toBe(9_007_199_254_740_993n)
    expect(() => parseBaseUnits('1.5')).toThrow('base units')
    expect(() => parseBaseUnits('-1')).toThrow('base units')
  })

  test('a number for display is the decimal and not a sum of floats', () => {
    expect(displayNumber(1_500_000n, 6)).toBe(1.5)
    expect(displayNumber(1n, 6)).toBe(0.000001)
  })

  test('the smaller and the larger of two amounts do not depend on their order', () => {
    expect([smaller(1n, 2n), smaller(2n, 1n), larger(1n, 2n), larger(2n, 1n)]).toEqual([1n, 1n, 2n, 2n])
  })

  test('a division by nothing is a bug', () => {
    expect(() => divideRoundingUp(1n, 0n)).toThrow('positive divisor')
    expect(() => divideRoundingDown(-1n, 3n)).toThrow('no debt')
  })

  test('a machine may write a decimal with any exponent, and it is the same decimal', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: -20, max: 18 }), (amount, exponent) => {
        const text = formatDecimal(amount, 18)
        const moved = `${formatDecimal(amount * 10n ** 20n, 38 + exponent)}e${exponent}`
        expect(parseRoundingDown(moved, 18)).toBe(amount)
        expect(parseRoundingDown(text, 18)).toBe(parseDecimal(text, 18))
      }),
    )
  })

  test('a JSON number of up to 15 digits is read as the decimal that it was written as, however small', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 30 }), (digits, places) => {
        const written = formatDecimal(digits, places)
        expect(parseRoundingDown(String(JSON.parse(written)), 45)).toBe(parseRoundingDown(written, 45))
      }),
    )
  })

  test('what is finer than the scale is cut off and never added', () => {
    fc.assert(
      fc.property(amounts, fc.stringMatching(/^\d{1,30}$/), (amount, more) => {
        const text = formatDecimal(amount, 18)
        const longer = text.includes('.')
          ? text.padEnd(text.indexOf('.') + 19, '0') + more
          : `${text}.${'0'.repeat(18)}${more}`
        expect(parseRoundingDown(longer, 18)).toBe(amount)
      }),
    )
  })

  test.each(['', '-1', '+1', '1.', '.5', '1e', '1e1000', 'NaN', 'Infinity', '0x1', '1_0', ' 1', '1,5', '١'])(
    '%j is not a machine number',
    (text) => {
      expect(parseRoundingDown(text, 18)).toBeUndefined()
    },
  )
})
