import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { tabIdOf } from '@tollbook/core/tab'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { receiptOf, type ReceiptTerms } from '../../src/payment/receipt.ts'
import type { DebitFacts } from '../../src/payment/settlement.ts'
import { sampleAddress, samplePrice, sampleReference, sampleSettlement } from '../store/samplePayment.ts'
import { mint } from './paymentStory.ts'

const leaf = { position: 7, leafHash: 'ab'.repeat(32), recordedAtMs: 0 }

function receiptInDollars(terms: ReceiptTerms) {
  const dollar = { mint, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const price = assertPresent(dollarPrices([samplePrice()], dollar, defaultSplit)[0], 'the price is above the minimum')
  const settlement = sampleSettlement({ price, burnedBaseUnits: 0n, receivedBaseUnits: price.requiredBaseUnits })
  return receiptOf({ settlement, endpoint: price.endpoint, attemptId: 'attempt_1', ...leaf }, terms)
}

test('a receipt for dollars has the split of the dollar where it is another one than that of the token', () => {
  const dollarSplit = { provider: '60%', treasury: '40%' }
  expect(receiptInDollars({ dollarSplit }).currency).toEqual({ mint, decimals: 6, split: dollarSplit })
  expect(receiptInDollars({})).toMatchObject({ currency: { mint, decimals: 6 }, tokenBurn: { source: 'treasury' } })
})

test('a receipt of a debit has the deposit, the hold, the charge, and the kind of key that paid', () => {
  const [deposit, tab] = [sampleReference(), tabIdOf(new Uint8Array(64).fill(1))]
  const signed = { sessionKey: sampleAddress(), maxBaseUnits: 9n, validUntilMs: 9, requestDigest: '', signature: '' }
  const receiptFor = (keys: Pick<DebitFacts, 'signed' | 'bearerHash'>) => {
    const debit = { tab, number: 7n, deposit, lifecycle: 0, orderDigest: '', ...keys }
    const held = { burnedBaseUnits: 0n, receivedBaseUnits: 1_000n, debit }
    const settlement = sampleSettlement({ ...held, price: samplePrice('/api/x', 300n) })
    return receiptOf({ settlement, endpoint: '/api/x', attemptId: 'attempt_1', ...leaf })
  }
  const ofBearer = receiptFor({ signed: undefined, bearerHash: 'ab' })
  const { burnBaseUnits } = samplePrice('/api/x', 300n)
  expect(ofBearer).toMatchObject({ requiredBaseUnits: '300', burnOwed: burnBaseUnits.toString() })
  expect(`solana:${ofBearer.signature}`).toBe(deposit)
  const shown = { id: tab, number: '7', heldBaseUnits: '1000' }
  expect(ofBearer).toMatchObject({ tab: { ...shown, authorization: 'bearer' } })
  expect(receiptFor({ signed, bearerHash: undefined })).toMatchObject({ tab: { ...shown, authorization: 'signed' } })
})

test('a sale in a dollar that burns nothing has its currency, and a deposit owes no burn', () => {
  const shares = [{ account: 'treasury', baseUnits: 300n }]
  const price = { ...samplePrice('/api/x', 300n), burnBaseUnits: 0n, shares }
  const receiptFor = (account: string) => {
    const ofAccount = { ...price, shares: [{ account, baseUnits: 300n }] }
    const settlement = sampleSettlement({
      price: ofAccount,
      burnedBaseUnits: 0n,
      receivedBaseUnits: 300n,
      priceList: 1,
    })
    return receiptOf(
      { settlement, endpoint: '/api/x', attemptId: 'attempt_1', ...leaf },
      { split: { treasury: '100%' } },
    )
  }
  expect(receiptFor('treasury')).toMatchObject({
    currency: { mint: price.mint, decimals: 6 },
    split: { treasury: '100%' },
  })
  const deposit = receiptFor('prepaid')
  expect(deposit).toMatchObject({ split: { burn: '0%', prepaid: '100%' } })
  expect([deposit.currency, deposit.burnOwed, deposit.tokenBurn]).toEqual([undefined, undefined, undefined])
})
