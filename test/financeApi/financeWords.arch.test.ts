import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { reportOptions } from '../../src/routes/reportOptions.ts'
import { describeReport, reportNames } from '../../src/reports/readReport.ts'
import { days, stateNames } from '../../src/reports/reportQuestion.ts'

const pageFile = (name: string) => readFile(new URL(`../../src/pages/${name}`, import.meta.url), 'utf8')
const words = await pageFile('browser/words.ts')
const page = await pageFile('files/finance.html')

test.each([...stateNames, 'paid', 'confirmed', 'failed', 'debited', 'captured'])(
  'the finance page has words for the state %s',
  (state) => {
    expect(words).toMatch(new RegExp(`^ {2}${state}: \\[`, 'm'))
  },
)

test('the finance page can be asked for every state and every report, and has a field for each filter of a report', () => {
  for (const state of stateNames) expect(page).toContain(`<option value="${state}">`)
  for (const report of reportNames) {
    expect(reportOptions()).toContain(`<option value="${report}" `)
    const filters = describeReport(report).accepts.filter((name) => ![...days, 'cursor', 'limit'].includes(name))
    for (const filter of filters) expect(page).toContain(`data-filter="${filter}"`)
  }
})
