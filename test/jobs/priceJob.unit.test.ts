import { expect, onTestFinished, test } from 'vitest'
import { startPriceJob } from '../../src/jobs/priceJob.ts'
import { silentLog } from '../../src/machine/log.ts'
import type { PriceListPublished } from '../../src/payment/events/settingEvents.ts'
import { defaultSplit } from '../../src/pricing/splitSetting.ts'
import { samplePrice } from '../store/samplePayment.ts'
import { steppedClock } from '../support/steppedClock.ts'

const prices = [samplePrice()]
const tokenPriceAttoUsd = 10n ** 15n
const readings = ['one', 'two'].map((source) => ({ source, tokenPriceAttoUsd, liquidityUsd: undefined }))

test('a list stands while its prices by use are those of now, and is replaced once they differ', async () => {
  const metered = {
    endpoint: '/api/ai/chat',
    inputPerMillionMicroUsd: 1n,
    outputPerMillionMicroUsd: 4n,
    minimumMicroUsd: 1n,
  }
  const published: PriceListPublished[] = []
  const start = async (outputPerMillionMicroUsd: bigint) => {
    const job = await startPriceJob(
      { tolerancePercent: 2, liquidityMinUsd: 0, ageMaxMs: 300_000 },
      {
        clock: steppedClock(),
        log: silentLog,
        sources: readings.map((reading) => ({ ask: () => Promise.resolve(reading) })),
        pricesAt: () => prices,
        listed: { split: defaultSplit, metered: [{ ...metered, outputPerMillionMicroUsd }] },
        priceLists: {
          newest() {
            const list = published.at(-1)
            return Promise.resolve(list && { number: published.length, effectiveAtMs: 0, list })
          },
          append: (list) => Promise.resolve(published.push(list) > 0),
        },
      },
    )
    await job.stop()
    return job.inForce()?.priceList
  }
  expect([await start(4n), await start(4n), await start(5n)]).toEqual([1, 1, 2])
})

/** A job by two markets, and the lists that it published. */
async function openMarkets(prices: { one: bigint; other: bigint }) {
  const clock = steppedClock()
  const published: PriceListPublished[] = []
  const source = (name: 'one' | 'other') => ({
    ask: () => Promise.resolve({ source: name, tokenPriceAttoUsd: prices[name], liquidityUsd: undefined }),
  })
  const job = await startPriceJob(
    { tolerancePercent: 2, liquidityMinUsd: 0, ageMaxMs: 300_000 },
    {
      clock,
      log: silentLog,
      sources: [source('one'), source('other')],
      pricesAt: (price) => [{ ...samplePrice(), tokenPriceAttoUsd: price }],
      listed: { split: defaultSplit },
      priceLists: {
        newest() {
          const list = published.at(-1)
          return Promise.resolve(list && { number: published.length, effectiveAtMs: 0, list })
        },
        append: (list) => Promise.resolve(published.push(list) > 0),
      },
    },
  )
  onTestFinished(() => job.stop())
  return { job, clock, published }
}

test('a jump is believed only after two polls in a row: markets that disagree in between confirm nothing', async () => {
  const [before, after] = [tokenPriceAttoUsd, tokenPriceAttoUsd * 2n]
  const markets = { one: before, other: before }
  const { clock, published } = await openMarkets(markets)
  const listsAfter = async (one: bigint, other: bigint) => {
    Object.assign(markets, { one, other })
    await clock.step()
    return published.length
  }
  expect(await listsAfter(after, after)).toBe(1)
  expect(await listsAfter(after, before), 'the markets disagree').toBe(1)
  expect(await listsAfter(after, after), 'the first poll of a jump again').toBe(1)
  expect(await listsAfter(after, after)).toBe(2)
})

test('while a list stands, the price in force is that of the list, whatever the markets say near it', async () => {
  const markets = { one: tokenPriceAttoUsd, other: tokenPriceAttoUsd }
  const { job, clock, published } = await openMarkets(markets)
  const near = (tokenPriceAttoUsd * 1_004n) / 1_000n
  Object.assign(markets, { one: near, other: near })
  await clock.step()
  expect(published).toHaveLength(1)
  expect(job.inForce()).toMatchObject({ tokenPriceAttoUsd, prices: published[0]?.prices, agreedAtMs: clock.nowMs() })
})
