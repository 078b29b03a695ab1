/*
 * The tables of a closing statement for the page and as CSV. The signed statement also has debits and credits in
 * dollars.
 */

import type { ClosingStatement } from '@tollbook/core/closingStatement'
import { tokensText } from './amounts.ts'
import type { Row } from './answers.ts'

export interface ClosingTable {
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
}

const accountColumns = [
  'account',
  'openingBaseUnits',
  'debitBaseUnits',
  'creditBaseUnits',
  'restatedBaseUnits',
  'closingBaseUnits',
  'closingAtDayPriceMicroUsd',
]
const totalColumns = ['total', 'amountBaseUnits', 'atQuotedPriceMicroUsd', 'atDayPriceMicroUsd']
const entryColumns = ['listedAs', 'position', 'day', 'account', 'debitBaseUnits', 'creditBaseUnits']

/** Creates the tables by name. */
export function closingTables({ accounts, totals, restated, recordedLater }: ClosingStatement) {
  const totalRows = Object.entries(totals).map(([total, { baseUnits, ...values }]) => {
    return { total, amountBaseUnits: baseUnits, ...values }
  })
  const entryRows = [
    ...restated.map((entry) => ({ listedAs: 'restated', ...entry })),
    ...recordedLater.map((entry) => ({ listedAs: 'recorded later', ...entry })),
  ]
  return {
    accounts: { columns: accountColumns, rows: accounts },
    totals: { columns: totalColumns, rows: totalRows },
    entries: { columns: entryColumns, rows: entryRows },
  } satisfies Record<string, ClosingTable>
}

/**
 * Formats a table like the CSV of the reports: base units and millionths of a dollar are exact, and each has a second
 * column for people.
 */
export function tableCsv({ columns, rows }: ClosingTable, decimals: number): string {
  const head = columns.flatMap((column) => [column, ...secondColumn(column)])
  const lines = rows.map((row) =>
    columns.flatMap((column) => {
      const value = String(row[column] ?? '')
      return secondColumn(column).length === 0 ? [value] : [value, plainAmount(column, value, decimals)]
    }),
  )
  return [head, ...lines].map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')
}

function secondColumn(column: string): readonly string[] {
  if (column.endsWith('BaseUnits')) return [column.replace(/BaseUnits$/, 'Tokens')]
  if (column.endsWith('MicroUsd')) return [column.replace(/MicroUsd$/, 'Usd')]
  return []
}

function plainAmount(column: string, value: string, decimals: number): string {
  if (value === '') return ''
  const text = tokensText(value, column.endsWith('MicroUsd') ? 6 : decimals)
  return text.replaceAll(',', '').replace('−', '-')
}

// Escape text that starts with one of these characters, because a spreadsheet would run it. Amounts may start with a
// minus.
const formula = /^[=+@\t\r]|^-(?!\d)/

function quoted(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
