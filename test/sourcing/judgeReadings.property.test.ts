import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldsApart } from '../../src/sourcing/agreement/figures.ts'
import { type AgreementRule, judgeReadings, type Reading } from '../../src/sourcing/agreement/judgeReadings.ts'

const rule: AgreementRule = { main: 'price', tolerances: { price: { percent: 3 } }, jumps: { price: { percent: 25 } } }
const alone = { lastKnown: undefined, needsSecond: true }
const reading = (source: string, price: number, isComplete = true): Reading => {
  return { source, figures: { price }, asOfMs: 0, isComplete }
}
const price = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
const noise = fc.double({ min: 0.995, max: 1.005, noNaN: true })

test('one wrong source of three, in any place, moves the sold price by no more than the tolerance', () => {
  fc.assert(
    fc.property(price, fc.tuple(noise, noise), price, fc.nat(2), (true_, [first, second], wrong, place) => {
      const readings = [reading('a', true_ * first), reading('b', true_ * second)]
      readings.splice(place, 0, reading('wrong', wrong))
      const judged = judgeReadings(readings, rule, alone)
      expect(judged.kind).toBe('agreed')
      if (!('sold' in judged)) return
      expect(Math.abs(Number(judged.sold.figures['price']) / true_ - 1)).toBeLessThan(0.04)
    }),
  )
})

test('of two sources that differ, neither is sold, whatever was sold before', () => {
  fc.assert(
    fc.property(price, price, fc.option(price, { nil: undefined }), (one, other, last) => {
      fc.pre(Math.abs(one - other) > Math.min(one, other) * 0.031)
      const lastKnown = last === undefined ? undefined : { price: last }
      const readings = [reading('a', one), reading('b', other)]
      expect(judgeReadings(readings, rule, { lastKnown, needsSecond: false }).kind).toBe('differ')
    }),
  )
})

test('one source alone is sold near the last known value only, and without one only if no other could confirm it', () => {
  fc.assert(
    fc.property(price, price, (now, last) => {
      const isNear = Math.abs(now - last) <= Math.min(now, last) * 0.25
      const kind = judgeReadings([reading('a', now)], rule, { lastKnown: { price: last }, needsSecond: true }).kind
      expect(kind).toBe(isNear ? 'last_known' : 'doubted')
      expect(judgeReadings([reading('a', now)], rule, alone).kind).toBe('doubted')
      expect(judgeReadings([reading('a', now)], rule, { ...alone, needsSecond: false }).kind).toBe('single')
    }),
  )
})

test('witnesses confirm and are never sold; a doubted answer needs one, even near the last known value', () => {
  const doubted = { ...reading('a', 100), doubt: 'a move' }
  const known = { lastKnown: { price: 100 }, needsSecond: false }
  expect(judgeReadings([reading('witness', 100, false)], rule, known).kind).toBe('none')
  expect(judgeReadings([doubted], rule, known).kind).toBe('doubted')
  expect(judgeReadings([doubted, reading('witness', 101, false)], rule, known).kind).toBe('agreed')
})

test.each([
  // Aggregators copy from each other, so exchanges that all contradict them outvote any number of them.
  ['one exchange far off', [150], 'differ'],
  ['two exchanges far off', [150, 152], 'differ'],
  ['one exchange far off and one near', [150, 101], 'agreed'],
  ['two exchanges near', [100, 101], 'agreed'],
])('two providers that agree, with %s', (_, witnesses, kind) => {
  const readings = [reading('a', 100), reading('b', 101)]
  const others = witnesses.map((seen, index) => reading(`exchange${index}`, seen, false))
  expect(judgeReadings([...readings, ...others], rule, alone).kind).toBe(kind)
  expect(judgeReadings([...others, ...readings], rule, alone).kind).toBe(kind)
})

test('a series is confirmed by half of its fields, and not by fewer', () => {
  const series = (fields: readonly number[]) =>
    Object.fromEntries(fields.map((day): [string, number] => [`price ${day}`, 1]))
  const whole = { ...reading('a', 1), figures: series([1, 2, 3, 4]) }
  const confirmedBy = (fields: readonly number[]) =>
    judgeReadings([whole, { ...reading('b', 1, false), figures: series(fields) }], rule, alone)
  expect(confirmedBy([1, 2])).toMatchObject({ kind: 'agreed', isConfirmed: true, unconfirmed: ['price 3', 'price 4'] })
  expect(confirmedBy([1])).toEqual({ kind: 'doubted' })
})

test('numbers differ by points, per cent of the smaller one, or a factor; texts and other fields as they say', () => {
  const tolerances = { a: { points: 2 }, b: { percent: 10 }, c: { factor: 3 } }
  const apart = (one: number | string, other: number | string) => {
    const figuresOf = (value: number | string) => ({ a: value, b: value, c: value, d: value })
    return fieldsApart(figuresOf(one), figuresOf(other), tolerances)
  }
  expect(apart(100, 102)).toEqual([])
  expect(apart(100, 110)).toEqual(['a'])
  expect(apart(111, 100)).toEqual(['a', 'b'])
  expect(apart(301, 100)).toEqual(['a', 'b', 'c'])
  expect(apart(0, 0)).toEqual([])
  expect(apart(0, 1)).toEqual(['b', 'c'])
  expect(apart('USD', 'EUR')).toEqual(['a', 'b', 'c', 'd'])
  expect(fieldsApart({ a: 1 }, { b: 100 }, tolerances)).toEqual([])
})
