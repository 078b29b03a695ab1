import { expect, test } from 'vitest'
import { tabIdOf } from '@tollbook/core/tab'
import { isRefusal, refuse } from '@tollbook/core/refusal'
import { chargeWithin, explainShortage, meteringAt, meteringOf, priceWithin } from '../../src/paywall/chargeByUse.ts'
import type { PriceListPublished } from '../../src/payment/events/settingEvents.ts'
import { refuseEmptyTab } from '../../src/payment/tabRefusal.ts'
import { chargeOf } from '../../src/pricing/meteredPrice.ts'
import { dollarSplit, split } from '../../src/pricing/split.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { holdWithin } from '../../src/rails/tab/holdDebit.ts'
import { mint, otherWallet, referenceNumber, settlementOf, wallet } from '../payment/paymentStory.ts'

/* A price by use: one micro-dollar for a unit of input, four for a unit of output, and 100 at least. */

const endpoint = '/api/ai/chat'
const byUse = { inputPerMillionMicroUsd: 1_000_000n, outputPerMillionMicroUsd: 4_000_000n, minimumMicroUsd: 100n }
const { price: story } = settlementOf(referenceNumber(1))
const price = { ...story, endpoint, priceList: 3 }
const used = (output: number) => ({ input: 1_000, output, isEstimated: false })
const debit = {
  tab: tabIdOf(new Uint8Array(16).fill(1)),
  number: 1n,
  deposit: referenceNumber(2),
  signed: undefined,
  bearerHash: 'ab',
  lifecycle: 0,
  orderDigest: 'cd',
}

function listWith(more: Partial<PriceListPublished> = {}) {
  const list: PriceListPublished = {
    kind: 'PriceListPublished',
    source: 'fixed',
    split: defaultSplit,
    prices: [story],
    metered: [
      { ...byUse, endpoint: '/api/other', minimumMicroUsd: 5_000n },
      { ...byUse, endpoint },
    ],
    ...more,
  }
  return { listNumber: async (number: number) => (number === 3 ? list : undefined) }
}

test('only a debit is charged by use, by the list of its hold and by the price of its endpoint', async () => {
  const deps = listWith()
  const held = { debit, price, priceList: 3 }
  expect(await meteringOf(deps, held)).toMatchObject({ price: { endpoint, minimumMicroUsd: 100n } })
  expect(await meteringOf(deps, { ...held, priceList: 4 })).toBeUndefined()
  const { debit: _debit, ...onChain } = held
  expect(await meteringOf(deps, onChain)).toBeUndefined()
  expect(await meteringAt(deps, { ...price, endpoint: '/api/fixed' })).toBeUndefined()
  expect(await meteringAt({}, price)).toBeUndefined()
})

test('a charge is divided by the split of its mint', async () => {
  const own = [{ account: 'treasury', perMille: 1_000 }]
  const other = { mint: wallet, split: [{ account: 'provider', perMille: 1_000 }] }
  const splitOf = async (deps: ReturnType<typeof listWith>, ofMint = mint) =>
    (await meteringAt(deps, { ...price, mint: ofMint }))?.split
  expect(await splitOf(listWith())).toEqual(defaultSplit)
  expect(await splitOf(listWith(), otherWallet)).toEqual(dollarSplit(defaultSplit))
  const listed = listWith({ dollarSplits: [other, { mint: otherWallet, split: own }] })
  expect(await splitOf(listed, otherWallet)).toEqual(own)
})

test('a charge is what was used, at most the hold, and at least what the burn leaves something of', () => {
  const metering = { price: byUse, split: defaultSplit }
  // 1,000 units of input and 250 of output: 2,000 of the 5,000 micro-dollars that 5,000,000 base units are.
  expect(chargeWithin(price, metering, used(250))).toEqual({
    requiredBaseUnits: 2_000_000n,
    ...split(2_000_000n, defaultSplit),
  })
  expect(chargeWithin(price, metering, used(1_000_000)).requiredBaseUnits).toBe(price.requiredBaseUnits)
  const dear = { ...price, tokenPriceAttoUsd: 10n ** 24n }
  expect(chargeWithin(dear, metering, used(0)).requiredBaseUnits).toBe(2n)
})

test('the burn that a smaller charge owes is its part of the whole burn, rounded up', () => {
  const tokenBurn = { mint: wallet, decimals: 6, baseUnits: 10n, tokenPriceAttoUsd: 1n }
  const metering = { price: byUse, split: defaultSplit }
  const charged = chargeWithin({ ...price, tokenBurn }, metering, used(276))
  expect(charged).toMatchObject({ requiredBaseUnits: 2_104_000n, tokenBurn: { ...tokenBurn, baseUnits: 5n } })
  expect(chargeWithin({ ...price, tokenBurn }, metering, used(1_000_000)).tokenBurn?.baseUnits).toBe(10n)
})

test('a smaller hold has the smaller price in both units, and none is made of which the burn leaves nothing', () => {
  const metering = { price: byUse, split: defaultSplit }
  expect(priceWithin(price, metering, 2_000n)).toMatchObject({
    priceMicroUsd: 2_000n,
    requiredBaseUnits: 2_000_000n,
    ...split(2_000_000n, defaultSplit),
  })
  const dear = { ...price, tokenPriceAttoUsd: 10n ** 24n }
  expect(priceWithin(dear, metering, 1n)).toBeUndefined()
})

const bounds = { signedBaseUnits: undefined, tabBaseUnits: 10n ** 9n, maxMicroUsd: undefined }
const order = { inputUnits: 1_000 }
const [lessBaseUnits, lessMicroUsd] = [2_000_000n, 2_000n]

test.each([
  ['the tab', { tabBaseUnits: lessBaseUnits }, 'the tab permits per request 0.002 USD'],
  ['the debit', { signedBaseUnits: lessBaseUnits }, 'the debit permits 0.002 USD'],
  ['the caller', { maxMicroUsd: lessMicroUsd }, 'tab-max-usd permits 0.002 USD'],
])('the smallest bound decides, here that of %s', async (_, bound, text) => {
  const looser = { signedBaseUnits: 2_500_000n, tabBaseUnits: 2_600_000n, maxMicroUsd: 2_700n, ...bound }
  const held = await holdWithin(listWith(), { order, price, bounds: looser })
  expect(held).toMatchObject({ priceMicroUsd: lessMicroUsd, requiredBaseUnits: lessBaseUnits })
  const fixed = await holdWithin({}, { order, price, bounds: looser })
  expect(fixed).toMatchObject({ reason: 'tab_limit', message: expect.stringContaining(text) })
  expect(fixed).toMatchObject({ message: expect.stringContaining('it costs 0.005 USD') })
})

test('a hold is the listed price within the bounds, and is refused below one unit of output', async () => {
  const hold = (maxMicroUsd: bigint, asked: typeof order | object = order) =>
    holdWithin(listWith(), { order: asked, price, bounds: { ...bounds, maxMicroUsd } })
  expect(await hold(5_000n)).toBe(price)
  expect(await hold(4_999n)).toMatchObject({ priceMicroUsd: 4_999n })
  // The input costs 1,000 micro-dollars, and one unit of output four.
  expect(await hold(1_004n)).toMatchObject({ priceMicroUsd: 1_004n })
  expect(await hold(1_003n)).toMatchObject({ message: expect.stringContaining('at least 0.001004 USD by use') })
  expect(await hold(4_999n, {}), 'the answer cannot end early').toMatchObject({ reason: 'tab_limit' })
})

test('a shortage says how much output the balance covers, and only for a price by use', () => {
  const tab = { id: debit.tab }
  const empty = refuseEmptyTab({ tab, price, balanceBaseUnits: 2_000_000n })
  const settlement = { price }
  const metering = { price: byUse, split: defaultSplit }
  const explained = explainShortage(metering, { order, settlement }, empty)
  expect(explained).toMatchObject({ tab: { affordable: { maxMicroUsd: 2_000n, output: 250 } } })
  expect(chargeOf(byUse, { input: 1_000, output: 250 })).toBe(2_000n)
  const poor = refuseEmptyTab({ tab, price, balanceBaseUnits: 1_000n })
  expect(explainShortage(metering, { order, settlement }, poor)).toMatchObject({
    tab: { affordable: { output: 0 } },
  })
  expect(explainShortage(metering, { order: {}, settlement }, empty)).toBe(empty)
  expect(explainShortage(undefined, { order, settlement }, empty)).toBe(empty)
  const limit = refuse('INVALID_PAYMENT', 'too much for this day')
  expect(explainShortage(metering, { order, settlement }, limit)).toBe(limit)
  expect(isRefusal(explained)).toBe(true)
})
