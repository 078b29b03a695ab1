import { expect, test } from 'vitest'
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

test('a jump is believed only after two polls in a row: markets that disagree in between confirm nothing', async () => {
  const clock = steppedClock()
  const published: PriceListPublished[] = []
  const [before, after] = [tokenPriceAttoUsd, tokenPriceAttoUsd * 2n]
  let [one, other] = [before, before]
  const source = (name: string, price: () => bigint) => ({
    ask: () => Promise.resolve({ source: name, tokenPriceAttoUsd: price(), liquidityUsd: undefined }),
  })
  const job = await startPriceJob(
    { tolerancePercent: 2, liquidityMinUsd: 0, ageMaxMs: 300_000 },
    {
      clock,
      log: silentLog,
      sources: [source('one', () => one), source('two', () => other)],
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
  const listsAfter = async (...prices: readonly [bigint, bigint]) => {
    ;[one, other] = prices
    await clock.step()
    return published.length
  }
  expect(await listsAfter(after, after)).toBe(1)
  expect(await listsAfter(after, before), 'the markets disagree').toBe(1)
  expect(await listsAfter(after, after), 'the first poll of a jump again').toBe(1)
  expect(await listsAfter(after, after)).toBe(2)
  await job.stop()
})
