import { formatDecimal } from '@tollbook/core/money'
import { type Cell, isMicroUsd, type ReportTable } from '../reports/reportTable.ts'

/** Draws a report as a table. Amounts are in tokens, with their decimals, and right-aligned. */
export function textTable({ columns, rows, totals, next }: ReportTable, decimals: number): string {
  const shown = rows.map((row) => columns.map((column) => text(column, row[column], decimals)))
  const foot =
    totals === undefined
      ? []
      : [columns.map((column, nth) => (nth === 0 ? 'total' : text(column, totals[column], decimals)))]
  const lines = [columns.map(titleOf), ...shown, ...foot]
  const widths = columns.map((_, nth) => Math.max(...lines.map((line) => line[nth]?.length ?? 0)))
  const isRight = columns.map((column) =>
    [...rows, totals ?? {}].some(
      (row) => typeof row[column] !== 'string' && row[column] !== undefined && row[column] !== null,
    ),
  )
  const drawn = lines.map((line) =>
    line
      .map((cell, nth) => (isRight[nth] === true ? cell.padStart(widths[nth] ?? 0) : cell.padEnd(widths[nth] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
  const empty = rows.length === 0 ? ['no rows for this question'] : []
  const more = next === undefined ? [] : ['… more: raise --limit, or take --format csv']
  return `${[...drawn, ...empty, ...more].join('\n')}\n`
}

export function jsonLines(report: string, { rows, totals, next }: ReportTable, facts: object): string {
  const body = { report, ...facts, rows, totals: totals ?? null, next: next ?? null }
  return `${JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))}\n`
}

function titleOf(column: string): string {
  return column.replace(/BaseUnits$/, '').replace(/MicroUsd$/, ' USD')
}

const usdDecimals = 6

function text(column: string, cell: Cell | undefined, decimals: number): string {
  if (cell === undefined || cell === null) return ''
  if (isMicroUsd(column)) return formatDecimal(BigInt(cell), usdDecimals)
  return typeof cell === 'bigint' ? formatDecimal(cell, decimals) : String(cell)
}
