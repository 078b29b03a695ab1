import { expect, test } from 'vitest'
import { type Bar, checkBars } from '../../src/sourcing/history/bars.ts'
import { type PriceHistory, withHistory } from '../../src/sourcing/history/priceHistory.ts'
import type { AnswerSource } from '../../src/sourcing/source.ts'

/* Bars of a history, and when an order with a history may be sold. */

const hourMs = 3_600_000
const barAt = (hour: number): Bar => ({ startMs: hour * hourMs, open: 10, high: 11, low: 9, close: 10 })
const rule = { price: 10, percentMax: 5, sinceMs: 0, ageMaxMs: hourMs, intervalMs: hourMs }

test('the last bar has begun, and ended no longer ago than the rule says', () => {
  const bars = [barAt(1), barAt(2)]
  const check = (nowMs: number) => () => checkBars(bars, { ...rule, nowMs })
  expect(check(2 * hourMs - 1)).toThrow('out of date')
  for (const nowMs of [2 * hourMs, 4 * hourMs]) expect(check(nowMs)()).toBe(bars)
  expect(check(4 * hourMs + 1)).toThrow('out of date')
})

test('an order with a history is not sold while no source has one, and an order without it is', () => {
  const unused = () => Promise.reject(new Error('not called'))
  const source: AnswerSource<string, PriceHistory> = {
    whyUnavailable: (range) => `no history of ${range}`,
    isKnownMissing: () => false,
    ask: unused,
    liveness: {
      isDue: () => false,
      probe: unused,
      answers: () => true,
      someAnswer: () => true,
      noteAnswer: () => undefined,
      noteFailure: () => undefined,
    },
  }
  const price = { whyUnavailable: () => undefined, deliver: unused }
  const { whyUnavailable } = withHistory(price, {
    source,
    queryOf: (range: string) => (range === '' ? undefined : range),
  })
  expect([whyUnavailable('1d'), whyUnavailable(''), whyUnavailable()]).toEqual([
    'no history of 1d',
    undefined,
    undefined,
  ])
})
