import { expect, test } from 'vitest'
import { type Bar, checkBars } from '../../src/sourcing/history/bars.ts'
import { dayFigures, gridFigures } from '../../src/sourcing/history/historyAgreement.ts'
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

test.each<[string, readonly Bar[]]>([
  ['fewer than two bars', [barAt(2)]],
  ['a bar of an earlier time', [barAt(-1), barAt(2)]],
  ['bars out of order', [barAt(2), barAt(2)]],
  [
    'a close far from the one before',
    [
      { ...barAt(1), open: 2, high: 2, low: 1.9, close: 1.9 },
      { ...barAt(2), open: 9, low: 9 },
    ],
  ],
  ['contradict each other', [barAt(1), { ...barAt(2), high: 9.9 }]],
  ['contradict each other', [barAt(1), { ...barAt(2), low: 10.1 }]],
  ['contradict each other', [barAt(1), { ...barAt(2), low: 0 }]],
  ['contradict each other', [barAt(1), { ...barAt(2), high: 46, low: 9 }]],
  ['contradict each other', [barAt(1), { ...barAt(2), volume: -1 }]],
  ['contradict each other', [barAt(1), { ...barAt(2), high: Number.NaN }]],
  ['far from the price', [barAt(1), { ...barAt(2), close: 10.6 }]],
])('%s is refused: %j', (why, bars) => {
  expect(() => checkBars(bars, { ...rule, nowMs: 2 * hourMs })).toThrow(why)
})

test('bars become cells of the common length, whose high and low are those of all bars in them', () => {
  const bars = [barAt(0), { ...barAt(1), high: 12, close: 10.5 }, { ...barAt(2), low: 8, close: 9.5 }]
  expect(gridFigures(bars, { intervalMs: hourMs, cellMs: 2 * hourMs })).toEqual({
    'close 1970-01-01T02:00:00.000Z': 10.5,
    'high 1970-01-01T00:00:00.000Z/1970-01-01T02:00:00.000Z': 12,
    'low 1970-01-01T00:00:00.000Z/1970-01-01T02:00:00.000Z': 9,
    'close 1970-01-01T03:00:00.000Z': 9.5,
    'high 1970-01-01T02:00:00.000Z/1970-01-01T03:00:00.000Z': 11,
    'low 1970-01-01T02:00:00.000Z/1970-01-01T03:00:00.000Z': 8,
  })
})

test('days are those of the exchange, and each names the day before it', () => {
  const figuresOf = (date: string) =>
    Object.entries({ close: 10, open: 10, high: 11, low: 9 }).map(([name, price]) => [`${name} ${date}`, price])
  expect(dayFigures([{ ...barAt(3), volume: 7 }, barAt(27)], 'America/New_York')).toEqual({
    ...Object.fromEntries([...figuresOf('1969-12-31'), ...figuresOf('1970-01-01')]),
    'volume 1969-12-31': 7,
    'before 1970-01-01': '1969-12-31',
  })
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
