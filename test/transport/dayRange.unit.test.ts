import { expect, test } from 'vitest'
import { z } from 'zod'

// A file of the browser's, which has no types.
const page = z.object({
  rangeOfDays: z.function({ input: [z.array(z.number())], output: z.array(z.number()) }),
  dayStepsS: z.array(z.number()),
})
const { rangeOfDays, dayStepsS } = page.parse(
  await import(new URL('../../src/pages/files/dayRange.js', import.meta.url).href),
)

const halfDayS = 43_200

test('a chart of one day shows that day, not years', () => {
  expect(rangeOfDays([1_790_000_000])).toEqual([1_790_000_000 - halfDayS, 1_790_000_000 + halfDayS])
})

test('a chart of many days has half a day of air on both sides', () => {
  expect(rangeOfDays([0, 86_400, 172_800])).toEqual([-halfDayS, 172_800 + halfDayS])
})

test('labels below a chart over days are whole days apart, so that none is repeated', () => {
  expect(dayStepsS.filter((stepS) => stepS % 86_400 !== 0)).toEqual([])
})
