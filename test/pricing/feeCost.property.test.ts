import fc from 'fast-check'
import { expect, test } from 'vitest'
import { paymentFeeMicroUsd, smallestPriceMicroUsd } from '../../src/pricing/feeCost.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'

test('10,001 lamports cost 0.001501 USD at 150 USD a SOL, and the half of 0.003002 USD pays them', () => {
  const fee = paymentFeeMicroUsd(150n * 10n ** 18n)
  expect([fee, smallestPriceMicroUsd(fee, defaultSplit, 'provider')]).toEqual([1_501n, 3_002n])
  expect(smallestPriceMicroUsd(fee, defaultSplit, 'referrer')).toBeUndefined()
})

test('the smallest price pays the fee, and no smaller one does', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      fc.constantFrom('provider', 'holders', 'treasury'),
      (fee, account) => {
        const perMille = BigInt(defaultSplit.find((share) => share.account === account)?.perMille ?? 0)
        const least = smallestPriceMicroUsd(fee, defaultSplit, account) ?? 0n
        expect(least * perMille >= fee * 1_000n && (least - 1n) * perMille < fee * 1_000n).toBe(true)
      },
    ),
  )
})
