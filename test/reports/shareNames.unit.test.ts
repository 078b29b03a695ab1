import { expect, test } from 'vitest'
import { paymentColumns as exportedColumns } from '../../src/reports/export/table.ts'
import { paymentColumns } from '../../src/reports/paymentList.ts'
import { exportedShareColumn, shareColumn } from '../../src/reports/shareNames.ts'

test('no share has the column of another amount, whatever its name', () => {
  const exported = exportedColumns([]).map(({ name }) => name)
  const names = exported.filter((name) => name.endsWith('_base_units'))
  const shares = names.map((name) => name.replace('_base_units', '').replaceAll('_', '-'))
  expect(shares).toContain('burn-owed')
  expect(shares.map(exportedShareColumn).filter((name) => exported.includes(name))).toEqual([])
  expect(shares.map(shareColumn).filter((name) => paymentColumns.includes(name))).toEqual([])
})

test('a share has its own name, and different shares have different columns', () => {
  expect([shareColumn('data-partners'), exportedShareColumn('data-partners')]).toEqual([
    'data-partnersBaseUnits',
    'data_partners_base_units',
  ])
  expect(shareColumn('paid')).not.toBe(shareColumn('share-paid'))
})

test('an exported payment is fulfilled when its answer was recorded, not when the payment was', () => {
  const column = exportedColumns([]).find(({ name }) => name === 'fulfilled_at')
  // The column reads nothing else.
  const row = { recordedAtMs: 1_000, fulfilledAtMs: 2_000 } as unknown as Parameters<
    NonNullable<typeof column>['of']
  >[0]
  expect(column?.of(row)).toEqual(new Date(2_000))
})
