import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { priceAll } from '../../src/pricing/currentPrice.ts'
import { products } from '../../src/endpoints/catalog.ts'
import { shares, split } from '../../src/pricing/split.ts'
import { parseTokenPrice, requiredBaseUnits } from '../../src/pricing/tokenPrice.ts'

const required = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })

describe('split', () => {
  test('I18 burn, provider, holders and treasury add up to what is required, to the base unit', () => {
    fc.assert(
      fc.property(required, (amount) => {
        const { burnBaseUnits, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits } = split(amount)
        expect(burnBaseUnits + providerBaseUnits + holdersBaseUnits + treasuryBaseUnits).toBe(amount)
      }),
    )
  })

  test('I18 at least 30 % is burned, and no share is off by a whole base unit or more from its percentage', () => {
    fc.assert(
      fc.property(required, (amount) => {
        const { burnBaseUnits, providerBaseUnits, holdersBaseUnits, treasuryBaseUnits } = split(amount)
        expect(burnBaseUnits * 100n >= amount * shares.burn).toBe(true)
        expect(burnBaseUnits * 100n < amount * shares.burn + 100n).toBe(true)
        expect(holdersBaseUnits).toBe((amount * 15n) / 100n)
        expect(treasuryBaseUnits).toBe((amount * 5n) / 100n)
        expect(providerBaseUnits >= 0n).toBe(true)
      }),
    )
  })

  test('the example of the specification: 50 tokens are 15 burned, 25 to the provider, 7.5 to holders, 2.5 to the treasury', () => {
    expect(split(50_000_000n)).toEqual({
      burnBaseUnits: 15_000_000n,
      providerBaseUnits: 25_000_000n,
      holdersBaseUnits: 7_500_000n,
      treasuryBaseUnits: 2_500_000n,
    })
  })

  test('one base unit is burned whole rather than promised and not burned', () => {
    expect(split(1n)).toEqual({ burnBaseUnits: 1n, providerBaseUnits: 0n, holdersBaseUnits: 0n, treasuryBaseUnits: 0n })
    expect(() => split(0n)).toThrow('at least one base unit')
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

  test.each(['0', '0.0', '', '-1', '1e-3', '0.0000000000000000001'])('a token price of %j is refused', (text) => {
    expect(parseTokenPrice(text)).toBeUndefined()
  })

  test('every endpoint of the list has a price that divides', () => {
    const prices = priceAll(products, { tokenPriceAttoUsd: 10n ** 15n, decimals: 6 })
    expect(prices?.map(({ endpoint }) => endpoint)).toEqual(products.map(({ path }) => path))
    expect(prices?.find(({ endpoint }) => endpoint === '/api/tools/qrcode')?.requiredBaseUnits).toBe(5_000_000n)
  })
})
