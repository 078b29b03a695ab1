import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { receiptOf, type ReceiptTerms } from '../../src/payment/receipt.ts'
import { samplePrice, sampleSettlement } from '../store/samplePayment.ts'
import { mint } from './paymentStory.ts'

function receiptInDollars(terms: ReceiptTerms) {
  const dollar = { mint, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const price = assertPresent(dollarPrices([samplePrice()], dollar, defaultSplit)[0], 'the price is above the minimum')
  const settlement = sampleSettlement({ price, burnedBaseUnits: 0n, receivedBaseUnits: price.requiredBaseUnits })
  const leaf = { position: 7, leafHash: 'ab'.repeat(32), recordedAtMs: 0 }
  return receiptOf({ settlement, endpoint: price.endpoint, attemptId: 'attempt_1', ...leaf }, terms)
}

test('a receipt for dollars has the split of the dollar where it is another one than that of the token', () => {
  const dollarSplit = { provider: '60%', treasury: '40%' }
  expect(receiptInDollars({ dollarSplit }).currency).toEqual({ mint, decimals: 6, split: dollarSplit })
  expect(receiptInDollars({})).toMatchObject({ currency: { mint, decimals: 6 }, tokenBurn: { source: 'treasury' } })
})
