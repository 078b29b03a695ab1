import { expect, test } from 'vitest'
import { isProblems, readQuestion } from '../../src/reports/reportQuestion.ts'

function daysOf(given: Readonly<Record<string, string>>) {
  const question = readQuestion('burns', given)
  return isProblems(question) ? question.map(({ field }) => field) : [question.from, question.to]
}

test('a month and a quarter stand for their first and last day, leap years included', () => {
  expect(daysOf({ month: '2028-02' })).toEqual(['2028-02-01', '2028-02-29'])
  expect(daysOf({ month: '2026-12' })).toEqual(['2026-12-01', '2026-12-31'])
  expect(daysOf({ quarter: '2026-Q1' })).toEqual(['2026-01-01', '2026-03-31'])
  expect(daysOf({ quarter: '2026-Q4' })).toEqual(['2026-10-01', '2026-12-31'])
  expect(daysOf({ from: '2026-10-05' })).toEqual(['2026-10-05', undefined])
})

test('a month goes with no other period, and a period that is none is refused by its name', () => {
  expect(daysOf({ month: '2026-10', from: '2026-10-01' })).toEqual(['month'])
  expect(daysOf({ month: '2026-10', quarter: '2026-Q4' })).toEqual(['month'])
  expect(daysOf({ month: '2026-13' })).toEqual(['month'])
  expect(daysOf({ quarter: '2026-Q5' })).toEqual(['quarter'])
  expect(daysOf({ columns: 'a,,b' })).toEqual(['columns'])
})
