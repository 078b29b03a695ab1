import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agree, type MarketPolicy, isWithin, type MarketReading } from '../../src/pricing/agreement.ts'

const policy: MarketPolicy = { tolerancePercent: 2, liquidityMinUsd: 10_000 }
const deep = 50_000n
const thin = 9_999n

const anyPrice = fc.bigInt({ min: 10n ** 6n, max: 10n ** 24n })
const anyReading = fc.record({
  source: fc.constantFrom('jupiter', 'dexscreener', 'geckoterminal'),
  tokenPriceAttoUsd: fc.oneof(anyPrice, fc.bigInt({ min: 98n, max: 104n })),
  liquidityUsd: fc.option(fc.oneof(fc.constantFrom(0n, thin, 10_000n, deep), fc.bigInt({ min: 0n, max: 10n ** 30n })), {
    nil: undefined,
  }),
})

function reading(tokenPriceAttoUsd: bigint, liquidity: bigint | 'untold' = deep): MarketReading {
  return { source: 'some market', tokenPriceAttoUsd, liquidityUsd: liquidity === 'untold' ? undefined : liquidity }
}

/** An honest price and another that is as far from it as honest markets are. */
const honestPair = anyPrice.chain((price) =>
  fc.tuple(fc.constant(price), fc.bigInt({ min: (price * 99n) / 100n + 1n, max: (price * 101n) / 100n })),
)

describe('the markets agree', () => {
  test('on a price that at least two voices are near, and never without a measured one', () => {
    fc.assert(
      fc.property(fc.array(anyReading, { maxLength: 4 }), (readings) => {
        const agreement = agree(readings, policy)
        if (agreement.kind === 'none') return
        const near = readings.filter(
          ({ tokenPriceAttoUsd, liquidityUsd }) =>
            isWithin(tokenPriceAttoUsd, agreement.tokenPriceAttoUsd, 2) && (liquidityUsd ?? deep) >= 10_000n,
        )
        expect(near.length).toBeGreaterThanOrEqual(2)
        expect(near.some(({ liquidityUsd }) => liquidityUsd !== undefined)).toBe(true)
      }),
    )
  })

  test('on the same price in whatever order they answered', () => {
    fc.assert(
      fc.property(fc.array(anyReading, { maxLength: 4 }), (readings) => {
        expect(agree(readings.toReversed(), policy)).toEqual(agree(readings, policy))
      }),
    )
  })

  test('on the middle one of three, and on the mean of two, rounded down', () => {
    expect(agree([reading(1_010n), reading(1_000n), reading(1_005n)], policy)).toEqual({
      kind: 'agreed',
      tokenPriceAttoUsd: 1_005n,
    })
    expect(agree([reading(1_010n), reading(1_001n)], policy)).toEqual({ kind: 'agreed', tokenPriceAttoUsd: 1_005n })
  })

  test('at the limit of the tolerance, and not beyond it', () => {
    const at = (price: bigint) => agree([reading(1_000_000n), reading(price)], policy).kind
    // Both are two percent away from the mean of the two.
    expect(at(1_040_816n)).toBe('agreed')
    expect(at(1_040_820n)).toBe('none')
  })
})

describe('one dishonest market', () => {
  test('together with two honest markets cannot move the price out of their range', () => {
    fc.assert(
      fc.property(honestPair, fc.bigInt({ min: 1n, max: 10n ** 25n }), ([one, two], lie) => {
        const agreement = agree([reading(one), reading(lie), reading(two)], policy)
        expect(agreement.kind).toBe('agreed')
        if (agreement.kind === 'none') return
        expect(agreement.tokenPriceAttoUsd >= (one < two ? one : two)).toBe(true)
        expect(agreement.tokenPriceAttoUsd <= (one > two ? one : two)).toBe(true)
      }),
    )
  })

  test('together with one honest market cannot move the price away from it by more than the tolerance', () => {
    fc.assert(
      fc.property(anyPrice, fc.bigInt({ min: 900n, max: 1_100n }), (honest, perMille) => {
        const agreement = agree([reading(honest), reading((honest * perMille) / 1_000n)], policy)
        if (agreement.kind === 'agreed') expect(isWithin(honest, agreement.tokenPriceAttoUsd, 2)).toBe(true)
      }),
    )
  })

  test('and at worst stops sales with an alarm, if only one honest market is left', () => {
    fc.assert(
      fc.property(anyPrice, fc.bigInt({ min: 2n, max: 1_000n }), (honest, times) => {
        expect(agree([reading(honest), reading(honest * times)], policy).kind).toBe('none')
      }),
    )
  })
})

describe('thin pools', () => {
  test('are ignored, in any number', () => {
    fc.assert(
      fc.property(honestPair, anyPrice, ([one, two], lie) => {
        const liars = [reading(lie, thin), reading(lie, 0n)]
        expect(agree([...liars, reading(one), reading(two)], policy)).toEqual(
          agree([reading(one), reading(two)], policy),
        )
        expect(agree([...liars, reading(one)], policy).kind).toBe('none')
      }),
    )
  })

  test('that do not tell how thin they are prove nothing together', () => {
    fc.assert(
      fc.property(anyPrice, (lie) => {
        expect(agree([reading(lie, 'untold'), reading(lie, 'untold')], policy).kind).toBe('none')
        expect(agree([reading(lie, 'untold'), reading(lie, 'untold'), reading(lie * 2n)], policy).kind).toBe('none')
      }),
    )
  })

  test('a market without reported liquidity agrees together with one that reports it', () => {
    expect(agree([reading(1_000n, 'untold'), reading(1_000n, 10_000n)], policy).kind).toBe('agreed')
  })

  test('and without a minimum no market has to report it', () => {
    const noFloor = { ...policy, liquidityMinUsd: 0 }
    expect(agree([reading(1_000n, 'untold'), reading(1_000n, 'untold')], noFloor).kind).toBe('agreed')
  })
})

test.each([[[]], [[reading(1_000n)]], [[reading(1_000n), reading(1_000n, thin)]]])(
  'fewer than two counted markets are not an agreement (%#)',
  (readings) => {
    expect(agree(readings, policy).kind).toBe('none')
  },
)
