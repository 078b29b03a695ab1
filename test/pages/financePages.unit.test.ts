import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createBurnPage, createFinancePage } from '../../src/pages/pages.ts'
import { openPlainServer } from '../transport/plainServer.ts'

// Files of the browser's, which have no types.
const load = (file: string) => import(new URL(`../../src/pages/files/${file}`, import.meta.url).href)
const text = z.string()
const { tokensText, countText } = z
  .object({
    tokensText: z.function({ input: [text, z.int()], output: text }),
    countText: z.function({ input: [z.int()], output: text }),
  })
  .parse(await load('amounts.js'))
const { tableCsv } = z
  .object({ tableCsv: z.function({ input: [z.unknown(), z.int()], output: text }) })
  .parse(await load('closingTables.js'))
const { columnName, columnsShown } = z
  .object({
    columnName: z.function({ input: [text], output: text }),
    columnsShown: z.function({ input: [text, z.array(text), z.boolean()], output: z.array(text) }),
  })
  .parse(await load('tables.js'))
const { decisionsFor } = z
  .object({ decisionsFor: z.function({ input: [z.unknown(), z.unknown()], output: z.array(z.tuple([text, text])) }) })
  .parse(await load('decisions.js'))

test.each([
  ['0', 6, '0'],
  ['1', 6, '0.000001'],
  ['1234567890', 6, '1,234.56789'],
  ['-1500000', 6, '−1.5'],
  ['-5', 0, '−5'],
  // More than a number holds exactly.
  ['9007199254740993000001', 6, '9,007,199,254,740,993.000001'],
])('%s base units with %i decimals are shown as %s tokens', (baseUnits, decimals, shown) => {
  expect(tokensText(baseUnits, decimals)).toBe(shown)
})

test('counts are grouped by thousands', () => {
  expect([0, 999, 1_000, 1_234_567].map((count) => countText(count))).toEqual(['0', '999', '1,000', '1,234,567'])
})

describe('the CSV of a closing statement', () => {
  const csv = (row: Readonly<Record<string, unknown>>) =>
    tableCsv({ columns: Object.keys(row), rows: [row] }, 6).split('\r\n')

  test('has exact amounts, each followed by a number that a spreadsheet reads', () => {
    const [head, line, end] = csv({ account: 'A', debitBaseUnits: '-1234500000', valueMicroUsd: '2500000' })
    expect(head).toBe('account,debitBaseUnits,debitTokens,valueMicroUsd,valueUsd')
    expect(line).toBe('A,-1234500000,-1234.5,2500000,2.5')
    expect(end).toBe('')
  })

  test('has empty cells for amounts that are not known', () => {
    expect(csv({ account: 'A', valueMicroUsd: null })[1]).toBe('A,,')
  })

  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['-cmd', "'-cmd"],
    ['-1', '-1'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['=a,"b"', `"'=a,""b"""`],
  ])('has no cell that a spreadsheet runs or splits: %s', (account, cell) => {
    expect(csv({ account })[1]).toBe(cell)
  })
})

test('a column of a share and one of dollars have names for people', () => {
  expect(columnName('share-burnBaseUnits')).toBe('Share burn')
  expect(columnName('burnOwedAtDayPriceMicroUsd')).toBe('Owed to be burned (USD, price of the day)')
  expect(columnName('providerBaseUnits')).toBe('Provider')
})

test('the fitting columns leave out the price of the day and rare amounts, and all columns are shown on request', () => {
  const columns = ['day', 'lostBaseUnits', 'providerBaseUnits', 'providerAtDayPriceMicroUsd']
  expect(columnsShown('distributions', columns, false)).toEqual(['day', 'providerBaseUnits'])
  expect(columnsShown('distributions', columns, true)).toEqual(columns)
})

describe('decisions about a payment', () => {
  const offered = (diagnosis: object, refunds: readonly object[]) =>
    decisionsFor({ booking: null, ...diagnosis }, refunds).map(([action]) => action)

  test('a delivered answer is refunded once', () => {
    expect(offered({ code: 'delivered' }, [])).toEqual(['grant'])
    expect(offered({ code: 'delivered' }, [{ cause: 'granted', state: 'approved' }])).toEqual([])
  })

  test('an overpayment of a delivered answer is approved apart from a refund of its price', () => {
    expect(offered({ code: 'delivered' }, [{ cause: 'overpaid', state: 'due' }])).toEqual(['approve', 'grant'])
  })

  test('a debt that is approved or paid is not approved again', () => {
    for (const state of ['approved', 'part_paid', 'paid'])
      expect(offered({ code: 'refund_due' }, [{ cause: 'undelivered', state }]), state).toEqual([])
  })

  test('a payment that can be recorded early offers that, in the words of its diagnosis', () => {
    expect(decisionsFor({ code: 'unmatched', booking: { words: 'Record it.' } }, [])).toEqual([
      ['record', 'Record it.'],
    ])
  })
})

test.each([
  ['finance', createFinancePage],
  ['burn', createBurnPage],
])('every module that the %s page loads is served below it', async (name, createPage) => {
  const { port } = await openPlainServer({ freeRoutes: await createPage() })
  const waiting = [`${name}.js`]
  const seen = new Set(waiting)
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const answer = await fetch(`http://127.0.0.1:${port}/${name}/${file}`)
    expect([file, answer.status]).toEqual([file, 200])
    const imported = [...(await answer.text()).matchAll(/from '\.\/([^']+)'/g)].map(([, other = '']) => other)
    waiting.push(...imported.filter((other) => !seen.has(other)))
    for (const other of imported) seen.add(other)
  }
  expect(seen.size).toBeGreaterThan(2)
})
