import { expect, test } from 'vitest'
import { jsonLines, textTable } from '../../src/cli/reportText.ts'

const columns = ['endpoint', 'payments', 'burnedBaseUnits', 'burnedMicroUsd', 'note']
const rows = [
  { endpoint: '/a', payments: 2, burnedBaseUnits: 1_500_000n, burnedMicroUsd: 30_000, note: null },
  { endpoint: '/long/path', payments: 11, burnedBaseUnits: 2n, burnedMicroUsd: 7, note: 'text' },
]
const totals = { payments: 13, burnedBaseUnits: 1_500_002n, burnedMicroUsd: 30_007 }

test('a table has amounts in whole tokens and dollars, right-aligned, and its totals below', () => {
  expect(textTable({ columns, rows, totals, next: undefined }, 6)).toBe(
    [
      'endpoint    payments    burned  burned USD  note',
      '/a                 2       1.5        0.03',
      '/long/path        11  0.000002    0.000007  text',
      'total             13  1.500002    0.030007',
      '',
    ].join('\n'),
  )
})

test('a table without rows says so, and one with more rows says how to read them', () => {
  const empty = textTable({ columns, rows: [], totals: undefined, next: undefined }, 6)
  expect(empty).toMatch(/^endpoint.*\nno rows for this question\n$/)
  const first = textTable({ columns, rows, totals: undefined, next: 'cursor' }, 6)
  expect(first).toMatch(/\n… more: raise --limit, or take --format csv\n$/)
  expect(first).not.toContain('total')
})

test('JSON has exact amounts as text, and null for what is missing', () => {
  const [row] = rows
  const line = jsonLines(
    'burns',
    { columns, rows: row === undefined ? [] : [row], totals: undefined, next: undefined },
    { mint: 'M' },
  )
  expect(line).toBe(
    '{"report":"burns","mint":"M","rows":[{"endpoint":"/a","payments":2,"burnedBaseUnits":"1500000","burnedMicroUsd":30000,"note":null}],"totals":null,"next":null}\n',
  )
})
