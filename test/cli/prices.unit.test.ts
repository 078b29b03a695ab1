import { expect, test } from 'vitest'
import { tableOf } from '../../src/cli/prices.ts'
import { dollarPrices } from '../../src/pricing/dollarPrices.ts'
import { split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { mint, otherWallet as dollar } from '../payment/paymentStory.ts'

function inToken(endpoint: string, priceMicroUsd: bigint) {
  const requiredBaseUnits = priceMicroUsd * 1_000n
  const price = { endpoint, priceMicroUsd, tokenPriceAttoUsd: 10n ** 15n, mint, decimals: 6, requiredBaseUnits }
  return { ...price, ...split(requiredBaseUnits, defaultSplit) }
}

test('the table has each price in every mint, and names the smallest price that pays for its fee', () => {
  const prices = [inToken('/api/tools/qrcode', 5_000n), inToken('/api/data/crypto', 20_000n)]
  const sold = { mint: dollar, decimals: 6, minimumMicroUsd: 10_000n, burn: 'token' } as const
  const list = { kind: 'PriceListPublished', source: 'fixed', split: defaultSplit } as const
  const text = tableOf({ ...list, prices: [...prices, ...dollarPrices(prices, sold, defaultSplit)] }, 1_501n)
  expect(text.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    `endpoint | USD | token | ${dollar} | fee share`,
    '/api/tools/qrcode | 0.005 | 5 | not sold | 30 %',
    '/api/data/crypto | 0.02 | 20 | 0.02 | 7.5 %',
    '',
    'Network fee of a payment: 0.001501 USD (10001 lamports). Smallest price whose share for provider pays it: 0.003002 USD.',
    '',
  ])
})

test('a price below the smallest price of its dollar says that only tabs pay it', () => {
  const prices = [inToken('/api/tools/qrcode', 5_000n), inToken('/api/data/crypto', 20_000n)]
  // A service that sells tabs lists every price in dollars.
  const sold = { mint: dollar, decimals: 6, minimumMicroUsd: 1n, burn: 'token' } as const
  const list = { kind: 'PriceListPublished', source: 'fixed', split: defaultSplit } as const
  const listed = { ...list, prices: [...prices, ...dollarPrices(prices, sold, defaultSplit)] }
  const cells = (least: bigint | undefined) =>
    tableOf(listed, 1_501n, () => least)
      .split('\n')
      .slice(1, 3)
      .map((line) => line.split(/ {2,}/)[3])
  expect(cells(10_000n)).toEqual(['0.005 (tabs only)', '0.02'])
  expect(cells(5_000n)).toEqual(['0.005', '0.02'])
  expect(cells(undefined)).toEqual(['0.005', '0.02'])
})
