import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify'
import { assert } from '@tollbook/core/assert'
import { formatDecimal } from '@tollbook/core/money'
import type { Database } from '../store/database.ts'
import { type ReportRequest, allRows, readReport } from './readReport.ts'
import { type Cell, isAmount, isMicroUsd, type ReportRow } from './reportTable.ts'

/**
 * Writes the whole report as CSV (RFC 4180) while reading it. Amounts have two columns: exact base units, and tokens
 * for people. Values in millionths of a dollar have a second column in dollars. The last column is the mint, unless
 * columns are chosen. Text that a spreadsheet would run as a formula gets a leading apostrophe.
 */
export async function reportCsv(database: Database, request: ReportRequest): Promise<Readable> {
  // Read the first page before sending, because it names the columns and a fault must come first.
  const { columns } = await readReport(database, { ...request, limit: 1 })
  const { mint, decimals } = request.token
  return csvOf({
    columns: request.columns === undefined ? [...columns, 'mint'] : columns,
    rows: withMint(allRows(database, request), mint),
    decimals: () => decimals,
  })
}

async function* withMint(rows: AsyncIterable<ReportRow>, mint: string): AsyncGenerator<ReportRow> {
  for await (const row of rows) yield { ...row, mint }
}

export interface CsvTable {
  readonly columns: readonly string[]
  readonly rows: AsyncIterable<ReportRow>
  /** Decimals of the mint of a row. */
  readonly decimals: (row: ReportRow) => number
}

/** Amounts in base units have a second column in tokens. Texts that begin like a formula are escaped for spreadsheets. */
export function csvOf({ columns, rows, decimals }: CsvTable): Readable {
  const lines = stringify({
    header: true,
    columns: columns.flatMap((column) => {
      if (isAmount(column)) return [column, tokensName(column)]
      return isMicroUsd(column) ? [column, usdName(column)] : [column]
    }),
    escape_formulas: true,
    // Keep numbers as numbers until here, because only text is escaped. A negative amount would look like a formula.
    cast: {
      bigint: (amountBaseUnits) => amountBaseUnits.toString(),
      object: (amount) => {
        assert(amount instanceof TokenAmount, 'a cell is text, a number or an amount')
        return amount.cell()
      },
      number: (value, { column }) =>
        String(column).endsWith('Usd') && !isMicroUsd(String(column))
          ? formatDecimal(BigInt(value), usdDecimals)
          : String(value),
    },
    record_delimiter: 'windows',
  })
  const written = Readable.from(csvRows(rows, decimals))
  written.on('error', (error) => lines.destroy(error))
  lines.on('close', () => written.destroy())
  return written.pipe(lines)
}

/** Adds a second column for people to each amount and value. */
async function* csvRows(
  rows: CsvTable['rows'],
  decimals: CsvTable['decimals'],
): AsyncGenerator<Record<string, unknown>> {
  for await (const row of rows) {
    const shown = Object.entries(row).flatMap(([name, cell]): readonly (readonly [string, Cell | TokenAmount])[] => {
      if (typeof cell === 'bigint') return [[tokensName(name), new TokenAmount(cell, decimals(row))]]
      return isMicroUsd(name) && typeof cell === 'number' ? [[usdName(name), cell]] : []
    })
    yield { ...row, ...Object.fromEntries(shown) }
  }
}

/** An amount that is shown in whole tokens. */
class TokenAmount {
  readonly baseUnits: bigint
  readonly decimals: number

  constructor(baseUnits: bigint, decimals: number) {
    this.baseUnits = baseUnits
    this.decimals = decimals
  }

  /** A number below zero begins like a formula, and is not escaped. */
  cell() {
    const value = formatDecimal(this.baseUnits, this.decimals)
    return this.baseUnits < 0n ? { value, escape_formulas: false } : value
  }
}

/** Decimals of an amount in millionths of a dollar. */
export const usdDecimals = 6

function usdName(column: string): string {
  return column.replace(/MicroUsd$/, 'Usd')
}

function tokensName(column: string): string {
  return column.replace(/BaseUnits$/, 'Tokens')
}
