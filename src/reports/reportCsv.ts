import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { formatDecimal } from '@tollbook/core/money'
import type { Database } from '../store/database.ts'
import { allPages, type ReportRequest, readReport } from './readReport.ts'
import { type Cell, isAmount, isMicroUsd, type ReportRow } from './reportTable.ts'

/**
 * Writes all pages of the report, from the cursor on, as CSV (RFC 4180) while reading them. Amounts have two columns:
 * exact base units, and tokens for people. Text that a spreadsheet would run as a formula gets a leading apostrophe.
 */
export async function reportCsv(database: Database, request: ReportRequest): Promise<Readable> {
  // Read the report with one row before anything is sent, to get the names of the columns. A fault can then still
  // become an error answer.
  const { columns } = await readReport(database, { ...request, limit: 1 })
  const { mint, decimals } = request.token
  return csvOf({
    columns: request.columns === undefined ? [...columns, 'mint'] : columns,
    pages: withMint(allPages(database, request), mint),
    decimals: () => decimals,
  })
}

async function* withMint(pages: CsvTable['pages'], mint: string): CsvTable['pages'] {
  for await (const rows of pages) yield rows.map((row) => ({ ...row, mint }))
}

export interface CsvTable {
  readonly columns: readonly string[]
  readonly pages: AsyncGenerator<readonly ReportRow[]>
  readonly decimals: (row: ReportRow) => number
}

export function csvOf(table: CsvTable): Readable {
  return Readable.from(csvPages(table), { objectMode: false })
}

async function* csvPages({ columns, pages, decimals }: CsvTable): AsyncGenerator<string> {
  const names = columns.flatMap((column) => {
    if (isAmount(column)) return [column, column.replace(/BaseUnits$/, 'Tokens')]
    return isMicroUsd(column) ? [column, column.replace(/MicroUsd$/, 'Usd')] : [column]
  })
  yield stringify([names], options)
  for await (const rows of pages) {
    const cells = rows.map((row) => columns.flatMap((column) => cellsIn(column, row[column] ?? null, decimals(row))))
    yield stringify(cells, options)
  }
}

/**
 * A figure as text, for people. It is not escaped, because a spreadsheet must read a negative figure as a number,
 * although it begins like a formula.
 */
interface Figure {
  readonly figure: string
}

const options = {
  escape_formulas: true,
  record_delimiter: 'windows',
  cast: { object: ({ figure }: Record<string, unknown>) => ({ value: String(figure), escape_formulas: false }) },
} as const

function cellsIn(column: string, cell: Cell, decimals: number): readonly (Cell | Figure)[] {
  if (!isAmount(column) && !isMicroUsd(column)) return [cell]
  const scale = isAmount(column) ? decimals : usdDecimals
  return [cell, cell === null ? null : { figure: formatDecimal(BigInt(cell), scale) }]
}

export const usdDecimals = 6
