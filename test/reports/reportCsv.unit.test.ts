import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { csvOf } from '../../src/reports/reportCsv.ts'
import { cellsOf, type ReportRow } from '../../src/reports/reportTable.ts'

async function linesOf(row: ReportRow, decimals = 6): Promise<readonly string[]> {
  async function* pages() {
    yield await Promise.resolve([row])
  }
  return (await text(csvOf({ columns: Object.keys(row), pages: pages(), decimals: () => decimals }))).split('\r\n')
}

test('an amount below zero is a number in every column, so that a spreadsheet sums it', async () => {
  const lines = await linesOf({ burnedBaseUnits: -1_500_000n, closingAtDayPriceMicroUsd: -345, position: 7 })
  expect(lines[0]).toBe('burnedBaseUnits,burnedTokens,closingAtDayPriceMicroUsd,closingAtDayPriceUsd,position')
  expect(lines[1]).toBe('-1500000,-1.5,-345,-0.000345,7')
})

test('an amount of dollars above 2^53 millionths is exact, and a smaller one is a number', async () => {
  const row = cellsOf({ receivedMicroUsd: '9007199254740993', priceMicroUsd: '9007199254740991', endpoint: '12' })
  expect(row).toEqual({
    receivedMicroUsd: 9_007_199_254_740_993n,
    priceMicroUsd: 9_007_199_254_740_991,
    endpoint: '12',
  })
  expect((await linesOf(row))[1]).toBe('9007199254740993,9007199254.740993,9007199254740991,9007199254.740991,12')
})

test('text that a spreadsheet would run as a formula gets an apostrophe', async () => {
  const texts = { a: '=1+1', b: '-2+3', c: '+1', d: '@sum(a1)', e: '\t=1', f: 'plain' }
  expect((await linesOf(texts))[1]).toBe(`'=1+1,'-2+3,'+1,'@sum(a1),'\t=1,plain`)
})

test.each([
  [0, '-1500000,-1500000,2500000,2.5'],
  [2, '-1500000,-15000,2500000,2.5'],
  [9, '-1500000,-0.0015,2500000,2.5'],
])('with a mint of %i decimals the tokens follow the mint, and dollars do not', async (decimals, line) => {
  expect((await linesOf({ paidBaseUnits: -1_500_000n, paidMicroUsd: 2_500_000 }, decimals))[1]).toBe(line)
})
