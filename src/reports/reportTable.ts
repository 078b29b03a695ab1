import { type RawBuilder, sql } from 'kysely'

/** A report as plain data. A bigint is an exact amount in base units. */
export interface ReportTable {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
  /** Totals of the whole report, not of this page. Undefined where a bounded query cannot compute them. */
  readonly totals: ReportRow | undefined
  /** Cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

export type ReportRow = Readonly<Record<string, Cell>>
export type Cell = string | number | bigint | null

/** The columns of a report by name, each with the SQL of its cells. */
export type SqlColumns = Readonly<Record<string, RawBuilder<unknown>>>

/** A row as the database driver returns it: `numeric` as text, counts as numbers. */
export type SqlRow = Readonly<Record<string, string | number | null>>

/** The select list of the columns. */
export function selectList(columns: SqlColumns): RawBuilder<unknown> {
  return sql.join(Object.entries(columns).map(([name, cell]) => sql`${cell} as ${sql.ref(name)}`))
}

/** A time as text, like `isoTime`. */
export function isoTimeOf(time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** Converts the columns whose names end in BaseUnits to amounts. All conversions are made here. */
export function cellsOf(row: SqlRow): ReportRow {
  const cells = Object.entries(row).map(([name, value]): [string, Cell] => [
    name,
    typeof value === 'string' && isAmount(name) ? BigInt(value) : value,
  ])
  return Object.fromEntries(cells)
}

/** Columns of base units are known by their name, which ends in the unit. */
export function isAmount(column: string): boolean {
  return column.endsWith('BaseUnits')
}

/** Returns the cells of the chosen columns, or all cells if no columns are chosen. */
export function chosenCells(row: ReportRow, columns: readonly string[] | undefined): ReportRow {
  return columns === undefined
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name)))
}

/** Returns true if the column is in millionths of a dollar. */
export function isMicroUsd(column: string): boolean {
  return column.endsWith('MicroUsd')
}

/** Removes the extra row, which was read only to detect a next page. */
export function pageOf<Row>(rows: readonly Row[], { limit }: { readonly limit: number }) {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}
