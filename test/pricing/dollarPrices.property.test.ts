import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dollarPrices, findPoorTreasury } from '../../src/pricing/dollarPrices.ts'
import { mint, otherWallet as dollar } from '../payment/paymentStory.ts'
import { anySplit } from '../store/arbitraryEvent.ts'
import { split } from '../../src/pricing/split.ts'

const endpoint = '/api/data/crypto'
const priceOf = (priceMicroUsd: bigint, requiredBaseUnits: bigint) => {
  return { endpoint, priceMicroUsd, tokenPriceAttoUsd: 10n ** 15n, mint, decimals: 6, requiredBaseUnits }
}
const sold = { mint: dollar, minimumMicroUsd: 1n, burn: 'token' } as const

test('a price in dollars is the price rounded up, all of it is shared, and its burn is that of the token', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 10n }),
      fc.bigInt({ min: 1_000n, max: 10n ** 18n }),
      fc.nat(9),
      anySplit,
      (priceMicroUsd, required, decimals, policy) => {
        const inToken = { ...priceOf(priceMicroUsd, required), ...split(required, policy) }
        const [price] = dollarPrices([inToken], { ...sold, decimals }, policy)
        const found = price?.requiredBaseUnits ?? 0n
        const exact = priceMicroUsd * 10n ** BigInt(decimals)
        expect(found * 1_000_000n >= exact && (found - 1n) * 1_000_000n < exact).toBe(true)
        expect(price?.burnBaseUnits).toBe(0n)
        expect(price?.shares.reduce((sum, { baseUnits }) => sum + baseUnits, 0n)).toBe(found)
        expect(price?.shares.some(({ account }) => account === 'burn')).toBe(false)
        expect(price?.tokenBurn).toEqual({ mint, baseUnits: inToken.burnBaseUnits })
      },
    ),
  )
})

test('a price below the minimum is not sold in dollars, and a dollar without a burn promises none', () => {
  const policy = [
    { account: 'burn', perMille: 300 },
    { account: 'provider', perMille: 700 },
  ]
  const inToken = { ...priceOf(9_999n, 9_999n), ...split(9_999n, policy) }
  expect(dollarPrices([inToken], { ...sold, decimals: 6, minimumMicroUsd: 10_000n }, policy)).toEqual([])
  const [price] = dollarPrices([inToken], { ...sold, decimals: 6, burn: 'none' }, policy)
  expect(price).not.toHaveProperty('tokenBurn')
  // Without an account `treasury`, the share of the burn opens one.
  expect(price?.shares).toEqual([
    { account: 'provider', baseUnits: 7_000n },
    { account: 'treasury', baseUnits: 2_999n },
  ])
})

test('a dollar with a split is divided by it, and owes the same burn', () => {
  const policy = [
    { account: 'burn', perMille: 300 },
    { account: 'provider', perMille: 700 },
  ]
  const own = [
    { account: 'treasury', perMille: 400 },
    { account: 'holders', perMille: 600 },
  ]
  const inToken = { ...priceOf(9_999n, 9_999n), ...split(9_999n, policy) }
  expect(dollarPrices([inToken], { ...sold, decimals: 6, split: own }, policy)).toMatchObject([
    {
      shares: [
        { account: 'treasury', baseUnits: 4_000n },
        { account: 'holders', baseUnits: 5_999n },
      ],
      tokenBurn: { mint, baseUnits: 3_000n },
    },
  ])
})

test('the treasury may get exactly the share of a dollar that is burned of the token, and no less', () => {
  const policy = [
    { account: 'burn', perMille: 300 },
    { account: 'provider', perMille: 700 },
  ]
  const why = (perMille: number, burn: 'token' | 'none' = 'token') => {
    const own = [
      { account: 'treasury', perMille },
      { account: 'provider', perMille: 1_000 - perMille },
    ]
    return findPoorTreasury({ symbol: 'USDC', burn, split: own }, policy)
  }
  expect([why(300), why(301), why(299, 'none')]).toEqual([undefined, undefined, undefined])
  expect(why(299)).toContain('29.9%')
})
