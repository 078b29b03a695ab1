import { type RawBuilder, sql } from 'kysely'

/** A report as plain data. A bigint is an exact amount in base units. */
export interface ReportTable {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
  /** Totals of the whole report, not of this page. Undefined if no bounded query can compute the totals. */
  readonly totals: ReportRow | undefined
  /** Cursor of the next page. Undefined on the last page. */
  readonly next: string | undefined
}

export type ReportRow = Readonly<Record<string, Cell>>
export type Cell = string | number | bigint | null

/** The columns of a report by name, each with the SQL of its cells. */
export type SqlColumns = Readonly<Record<string, RawBuilder<unknown>>>

/** A row as the database driver returns it: `numeric` as text, counts as numbers. */
export type SqlRow = Readonly<Record<string, string | number | null>>

/** Returns the select list of the columns. */
export function selectList(columns: SqlColumns): RawBuilder<unknown> {
  return sql.join(Object.entries(columns).map(([name, cell]) => sql`${cell} as ${sql.ref(name)}`))
}

/** Returns an SQL expression for a time as text, in the format of `isoTime`. */
export function isoTimeOf(time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Converts the cells of columns whose names end in BaseUnits to bigint. */
export function cellsOf(row: SqlRow): ReportRow {
  const cells = Object.entries(row).map(([name, value]): [string, Cell] => [
    name,
    typeof value === 'string' && isAmount(name) ? BigInt(value) : value,
  ])
  return Object.fromEntries(cells)
}

/** True for a column of base units, whose name ends in this unit. */
export function isAmount(column: string): boolean {
  return column.endsWith('BaseUnits')
}

/** Returns the cells of the chosen columns, or all cells if no columns are chosen. */
export function chosenCells(row: ReportRow, columns: readonly string[] | undefined): ReportRow {
  return columns === undefined
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name)))
}

/** True if the column is in millionths of a dollar. */
export function isMicroUsd(column: string): boolean {
  return column.endsWith('MicroUsd')
}

/**
 * Returns the rows of the page, and its last row if another page follows. The query reads one row more than the limit
 * to detect this.
 */
export function pageOf<Row>(rows: readonly Row[], { limit }: { readonly limit: number }) {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}
