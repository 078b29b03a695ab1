import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ledgerCodec } from '../../src/payment/events.ts'
import { settingEvents } from '../../src/payment/events/settingEvents.ts'
import { closingFigures } from '../../src/reports/closing/closingFigures.ts'
import { reportNames, stateNames } from '../../src/reports/reportQuestion.ts'

const pageFile = (name: string) => readFile(new URL(`../../src/pages/${name}`, import.meta.url), 'utf8')
const words = await pageFile('browser/words.ts')
const page = await pageFile('files/finance.html')

test.each([...stateNames, 'paid', 'confirmed', 'failed'])('the finance page has words for the state %s', (state) => {
  expect(words).toMatch(new RegExp(`^ {2}${state}: \\[`, 'm'))
})

test('the finance page can be asked for every state and every report', () => {
  for (const state of stateNames) expect(page).toContain(`<option value="${state}">`)
  for (const report of reportNames) expect(page).toContain(`<option value="${report}">`)
})

test('the finance page has words for every event that moves money or answers a request', () => {
  const settings: ReadonlySet<string> = new Set(settingEvents.map(({ kind }) => kind))
  const kinds = ledgerCodec.kinds.filter((kind) => !settings.has(kind))
  expect(kinds.length).toBeGreaterThan(15)
  for (const kind of kinds) expect(words).toMatch(new RegExp(`^ {2}${kind}:`, 'm'))
})

test('the finance page has words for every total of a closing statement', () => {
  const totals = Object.keys(closingFigures([], undefined).totals)
  expect(totals.length).toBeGreaterThan(5)
  for (const total of totals) expect(words).toMatch(new RegExp(`^ {2}${total}: '`, 'm'))
})
