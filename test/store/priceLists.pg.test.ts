import { expect, test } from 'vitest'
import type { PriceListPublished } from '../../src/payment/events.ts'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/primitives/log.ts'
import { openLedger } from '../../src/store/openLedger.ts'
import { afterFile } from '../support/afterFile.ts'
import { createTestDatabase } from '../support/database.ts'
import { openInstance } from './instance.ts'
import { samplePrice } from './samplePayment.ts'

const endpoint = '/api/data/weather'

function list(required: bigint): PriceListPublished {
  return { kind: 'PriceListPublished', source: 'market', prices: [samplePrice(endpoint, required)] }
}

test('of two who publish after the same list one does, and the other is told', async () => {
  const { serviceUrl } = await createTestDatabase()
  const instances = await Promise.all([openInstance(serviceUrl), openInstance(serviceUrl)])
  const taken = await Promise.all(instances.map((ledger, index) => ledger.appendPriceList(list(BigInt(index + 1)), 0)))
  expect(new Set(taken)).toEqual(new Set([false, true]))
  expect(await instances[0]?.newestPriceList()).toMatchObject({ version: 1 })
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
  await behind.appendPriceList(list(10n), 0)
  await ahead.appendPriceList(list(20n), 1)
  await behind.appendPriceList(list(30n), 2)

  const priceAt = async (offsetMs: number) =>
    (await behind.payments.findPrice(endpoint, start + offsetMs))?.requiredBaseUnits
  expect(await priceAt(-1), 'before the first list').toBe(10n)
  expect(await priceAt(1_000)).toBe(30n)
  expect(await priceAt(60_000)).toBe(30n)
})
