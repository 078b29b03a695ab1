import { expect, test } from 'vitest'
import type { PriceListPublished } from '../../src/payment/events/settingEvents.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { priceIn } from '../../src/store/priceListStore.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { sampleAddress, samplePrice, sampleQuote } from './samplePayment.ts'

const endpoint = '/api/data/weather'

function list(required: bigint): PriceListPublished {
  return {
    kind: 'PriceListPublished',
    source: 'market',
    split: defaultSplit,
    prices: [samplePrice(endpoint, required)],
  }
}

test('of two that publish after the same list one succeeds, and the other is refused', async () => {
  const { serviceUrl } = await createTestDatabase()
  const instances = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl)])
  const taken = await Promise.all(
    instances.map((ledger, index) => ledger.priceLists.append(list(BigInt(index + 1)), 0)),
  )
  expect(new Set(taken)).toEqual(new Set([false, true]))
  expect(await instances[0]?.priceLists.newest()).toMatchObject({ number: 1 })
})

test('a price list that no event can hold is refused with its size, and one byte less is recorded', async () => {
  const { priceLists } = await openInstance((await createTestDatabase()).serviceUrl)
  const publish = (sourceLength: number) => priceLists.publish({ ...list(1n), source: 'x'.repeat(sourceLength) })
  const refusal = await publish(70_000).catch(String)
  const [, bytes] =
    /takes ([0-9]+) bytes, and at most 65519 are recorded: sell fewer products/.exec(String(refusal)) ?? []
  const lengthMax = 70_000 - (Number(bytes) - 65_519)
  await expect(publish(lengthMax + 1)).rejects.toMatchObject({ name: 'Fault', retryable: false })
  expect(await publish(lengthMax)).toBe(1)
})

test('the price in force at a moment is of the newest list by then, though the clock of an earlier publisher was ahead', async () => {
  const { serviceUrl } = await createTestDatabase()
  const start = systemClock.nowMs()
  const at = async (offsetMs: number) => {
    const clock = { ...systemClock, nowMs: () => start + offsetMs }
    const ledger = await openLedger({ databaseUrl: serviceUrl, applicationName: 'skewed', clock, log: silentLog })
    afterFile(() => ledger.close())
    return ledger
  }
  const [behind, ahead] = [await at(0), await at(2_000)]
  await behind.priceLists.append(list(10n), 0)
  await ahead.priceLists.append(list(20n), 1)
  await behind.priceLists.append(list(30n), 2)

  const priceAt = async (offsetMs: number) =>
    (await behind.payments.findPrice(endpoint, start + offsetMs))?.requiredBaseUnits
  expect(await priceAt(-1), 'before the first list').toBe(10n)
  expect(await priceAt(1_000)).toBe(30n)
  expect(await priceAt(60_000)).toBe(30n)
})

test('instances that start together with one list record it once, and each gets its number', async () => {
  const { serviceUrl } = await createTestDatabase()
  const instances = await Promise.all(Array.from({ length: 4 }, () => openInstance(serviceUrl)))
  const numbers = await Promise.all(instances.map(({ priceLists }) => priceLists.publish(list(10n))))
  expect(numbers).toEqual([1, 1, 1, 1])
  expect(await instances[0]?.priceLists.publish(list(20n))).toBe(2)
})

test('a quote is read back whole, with the amounts of the list that it names', async () => {
  const { serviceUrl } = await createTestDatabase()
  const ledger = await openInstance(serviceUrl)
  const priceList = await ledger.priceLists.publish(list(10n))
  await ledger.priceLists.publish(list(20n))
  const quote = sampleQuote({ ...samplePrice(endpoint, 10n), priceList })
  await ledger.payments.recordQuote(quote)
  const { wallet, memo, issuedAtMs, slot } = quote
  const landed = { landedAtMs: issuedAtMs + 1_000, landedSlot: slot, graceMs: 0 }
  expect(await ledger.payments.findOpenQuote({ wallet, endpoint, ...landed })).toEqual(quote)
  const asked = { wallet, endpoint, memo, ...landed }
  expect(await ledger.payments.findBoundQuote(asked)).toEqual(quote)
  const late = { wallet, endpoint, landedAtMs: quote.expiresAtMs + 500, landedSlot: slot }
  expect(await ledger.payments.findOpenQuote({ ...late, graceMs: 501 })).toEqual(quote)
  expect(await ledger.payments.findOpenQuote({ ...late, graceMs: 500 })).toBeUndefined()
  for (const memo of ['another', `${asked.memo}\u0000`])
    expect(await ledger.payments.findBoundQuote({ ...asked, memo })).toBeUndefined()
})

test('of several quotes with one memo, of any instance, the cheapest that was open counts, and one that was not open only without it', async () => {
  const { serviceUrl } = await createTestDatabase()
  const [one, other] = [await openInstance(serviceUrl), await openInstance(serviceUrl)]
  const [ten, twenty] = [await one.priceLists.publish(list(10n)), await one.priceLists.publish(list(20n))]
  const dear = { ...sampleQuote({ ...samplePrice(endpoint, 20n), priceList: twenty }), slot: 5 }
  const { wallet, memo, issuedAtMs, expiresAtMs } = dear
  const cheap = { ...dear, ...sampleQuote({ ...samplePrice(endpoint, 10n), priceList: ten }), wallet, memo, slot: 9 }
  await one.payments.recordQuote(dear, { sharesMemo: true })
  await other.payments.recordQuote(cheap, { sharesMemo: true })

  const asked = { wallet, endpoint, memo, landedAtMs: issuedAtMs + 1_000, graceMs: 0 }
  for (const { payments } of [one, other]) {
    expect(await payments.findBoundQuote({ ...asked, landedSlot: 9 })).toEqual(cheap)
    expect(await payments.findBoundQuote({ ...asked, landedSlot: 8 })).toEqual(dear)
    expect((await payments.findBoundQuote({ ...asked, landedSlot: 8, landedAtMs: expiresAtMs + 1 }))?.slot).toBe(5)
    expect(await payments.findBoundQuote({ ...asked, landedSlot: 4 })).toBeDefined()
  }
})

test('of the prices of one endpoint the one in the mint of the dollar is found, and without a dollar the token', () => {
  const [dollar, other] = [sampleAddress(), sampleAddress()]
  const inMint = (mint: typeof dollar) => ({ ...samplePrice(endpoint, 7n), mint })
  const [ofToken] = list(9n).prices
  const listed = { ...list(9n), prices: [...list(9n).prices, inMint(other), inMint(dollar)] }
  expect(priceIn(listed, endpoint, dollar)?.mint).toBe(dollar)
  expect(priceIn(listed, endpoint)).toEqual(ofToken)
  expect(priceIn(listed, endpoint, sampleAddress())).toBeUndefined()
})
