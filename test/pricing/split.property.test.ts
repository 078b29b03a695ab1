import { assert } from '@tollbook/core/assert'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { priceAll } from '../../src/pricing/currentPrice.ts'
import { products } from '../support/builtinProducts.ts'
import { split } from '../../src/pricing/split.ts'
import { depositAccount } from '@tollbook/core/tab'
import { defaultSplit, type SplitShare } from '../../src/pricing/splitSetting.ts'
import { anySplit } from '../store/arbitraryEvent.ts'
import { parseTokenPrice, requiredBaseUnits } from '../../src/pricing/tokenPrice.ts'

const required = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })

function accountsOf(policy: readonly SplitShare[]): readonly string[] {
  return policy.flatMap(({ account }) => (account === 'burn' ? [] : [account]))
}

function perMilleOf(policy: readonly SplitShare[], name: string): bigint {
  return BigInt(policy.find(({ account }) => account === name)?.perMille ?? 0)
}

describe('split', () => {
  test('I18 burn and shares of any split add up to what is required, to the base unit', () => {
    fc.assert(
      fc.property(required, anySplit, (amount, policy) => {
        const { burnBaseUnits, shares } = split(amount, policy)
        expect(shares.reduce((sum, { baseUnits }) => sum + baseUnits, burnBaseUnits)).toBe(amount)
        expect(shares.map(({ account }) => account)).toEqual(accountsOf(policy))
      }),
    )
  })

  test('I18 the burn is rounded up, the shares down, and the first account takes the rest', () => {
    fc.assert(
      fc.property(required, anySplit, (amount, policy) => {
        const { burnBaseUnits, shares } = split(amount, policy)
        const burn = perMilleOf(policy, 'burn')
        expect(burnBaseUnits * 1000n >= amount * burn).toBe(true)
        expect(burnBaseUnits * 1000n < amount * burn + 1000n).toBe(true)
        const [first, ...others] = shares
        expect(
          others.every(({ account, baseUnits }) => baseUnits === (amount * perMilleOf(policy, account)) / 1000n),
        ).toBe(true)
        expect(first?.baseUnits).toBeGreaterThanOrEqual(0n)
      }),
    )
  })

  test('the example of the specification: 50 tokens are 15 burned, 25 to the provider, 7.5 to holders, 2.5 to the treasury', () => {
    expect(split(50_000_000n, defaultSplit)).toEqual({
      burnBaseUnits: 15_000_000n,
      shares: [
        { account: 'provider', baseUnits: 25_000_000n },
        { account: 'holders', baseUnits: 7_500_000n },
        { account: 'treasury', baseUnits: 2_500_000n },
      ],
    })
  })

  test('one base unit is burned whole rather than promised and not burned', () => {
    const { burnBaseUnits, shares } = split(1n, defaultSplit)
    expect([burnBaseUnits, ...shares.map(({ baseUnits }) => baseUnits)]).toEqual([1n, 0n, 0n, 0n])
    expect(() => split(0n, defaultSplit)).toThrow('at least one base unit')
  })
})

describe('what is required', () => {
  test('is the price divided by the token price, rounded up', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 9n }),
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        fc.integer({ min: 0, max: 9 }),
        (priceMicroUsd, tokenPriceAttoUsd, decimals) => {
          const amount = requiredBaseUnits({ priceMicroUsd, tokenPriceAttoUsd, decimals })
          const worth = amount * tokenPriceAttoUsd
          const price = priceMicroUsd * 10n ** BigInt(12 + decimals)
          expect(worth >= price && worth - tokenPriceAttoUsd < price).toBe(true)
        },
      ),
    )
  })

  test('the example of the specification: 0.05 USD at 0.001 USD a token is 50 tokens', () => {
    const tokenPriceAttoUsd = parseTokenPrice('0.001')
    expect(tokenPriceAttoUsd).toBe(10n ** 15n)
    expect(requiredBaseUnits({ priceMicroUsd: 50_000n, tokenPriceAttoUsd: 10n ** 15n, decimals: 6 })).toBe(50_000_000n)
  })

  test.each(['0', '0.0', '', '-1', '1e-3', '0.0000000000000000001', '0.000000000000000001', '1000000.1'])(
    'a token price of %j is refused',
    (text) => {
      expect(parseTokenPrice(text)).toBeUndefined()
    },
  )

  test('a price of all tokens that can exist is one, and of a base unit more is none', () => {
    const value = { tokenPriceAttoUsd: 10n ** 18n, decimals: 6, split: defaultSplit }
    const priceOf = (priceMicroUsd: bigint) => priceAll([{ path: '/api/x', priceMicroUsd }], value)
    expect(priceOf(2n ** 64n - 1n)).toMatchObject([{ requiredBaseUnits: 2n ** 64n - 1n }])
    expect(priceOf(2n ** 64n)).toBe('/api/x would cost more tokens than can exist')
  })

  test('a price of which the burn takes all is refused with the smallest price that splits', () => {
    const value = { tokenPriceAttoUsd: 10n ** 15n, decimals: 0, split: defaultSplit }
    const priceOf = (priceMicroUsd: bigint) => priceAll([{ path: '/api/x', priceMicroUsd }], value)
    expect(priceOf(1_000n)).toBe(
      '/api/x costs 1 base units, and the burn would take all of it. The smallest price that splits is 2 base units, 0.002 USD at this token price',
    )
    expect(priceOf(2_000n)).toMatchObject([{ requiredBaseUnits: 2n, burnBaseUnits: 1n }])
  })

  test('of every price that is sold something is left by the burn, and the smallest one is named', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2_000n }), anySplit, (amount, policy) => {
        const value = { tokenPriceAttoUsd: 10n ** 18n, decimals: 6, split: policy }
        const found = priceAll([{ path: '/api/x', priceMicroUsd: amount }], value)
        expect(typeof found === 'string').toBe(split(amount, policy).burnBaseUnits === amount)
        if (typeof found !== 'string') return
        const smallest = BigInt(/splits is (\d+) base units/.exec(found)?.[1] ?? 0)
        expect(split(smallest - 1n, policy).burnBaseUnits).toBe(smallest - 1n)
        expect(typeof priceAll([{ path: '/api/x', priceMicroUsd: smallest }], value)).toBe('object')
      }),
    )
  })

  test('a deposit is one share, and each of its variants too', () => {
    const deposit = {
      path: '/api/tabs',
      priceMicroUsd: 10n,
      isDeposit: true,
      variants: [{ name: 'big', priceMicroUsd: 99n }],
    } as const
    const whole = (baseUnits: bigint) => ({ burnBaseUnits: 0n, shares: [{ account: depositAccount, baseUnits }] })
    const prices = priceAll([deposit], { tokenPriceAttoUsd: 10n ** 18n, decimals: 6, split: defaultSplit })
    expect(prices).toMatchObject([whole(10n), { endpoint: '/api/tabs#big', ...whole(99n) }])
  })

  test('every endpoint of the list has a price that divides', () => {
    const prices = priceAll(products, { tokenPriceAttoUsd: 10n ** 15n, decimals: 6, split: defaultSplit })
    assert(typeof prices !== 'string', 'each product can be sold')
    expect(prices.map(({ endpoint }) => endpoint)).toEqual(products.map(({ path }) => path))
    expect(prices.find(({ endpoint }) => endpoint === '/api/tools/qrcode')?.requiredBaseUnits).toBe(5_000_000n)
  })
})
