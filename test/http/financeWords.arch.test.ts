import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { reportNames, stateNames } from '../../src/reports/reportQuestion.ts'

const pageFile = (name: string) => readFile(new URL(`../../src/http/pages/${name}`, import.meta.url), 'utf8')
const words = await pageFile('words.js')
const page = await pageFile('finance.html')

test.each([...stateNames, 'paid_out'])('the finance page has words for the state %s', (state) => {
  expect(words).toMatch(new RegExp(`^ {2}${state}: \\[`, 'm'))
})

test('the finance page can be asked for every state and every report', () => {
  for (const state of stateNames) expect(page).toContain(`<option value="${state}">`)
  for (const report of reportNames) expect(page).toContain(`<option value="${report}">`)
})

test('the finance page has words for every event that the book can have', async () => {
  const events = await readFile(new URL('../../src/payment/events.ts', import.meta.url), 'utf8')
  const kinds = [...events.matchAll(/readonly kind: '(\w+)'/g)].map(([, kind = '']) => kind)
  expect(kinds.length).toBeGreaterThan(10)
  for (const kind of kinds.filter((kind) => kind !== 'PriceListPublished'))
    expect(words).toMatch(new RegExp(`^ {2}${kind}:`, 'm'))
})
