import { type RawBuilder, sql } from 'kysely'

/**
 * Amounts in base units are bigints. Amounts in dollars are numbers of millionths, and bigints from 2^53, because
 * numbers are not exact there.
 */
export interface ReportTable {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
  /** Totals of the whole report, not of this page. Undefined if no bounded query can compute the totals. */
  readonly totals: ReportRow | undefined
  readonly next: string | undefined
}

export type ReportRow = Readonly<Record<string, Cell>>
export type Cell = string | number | bigint | null

export type SqlColumns = Readonly<Record<string, RawBuilder<unknown>>>

/** A row as the database driver returns it: `numeric` as text, counts as numbers. */
export type SqlRow = Readonly<Record<string, string | number | null>>

export function selectList(columns: SqlColumns): RawBuilder<unknown> {
  return sql.join(Object.entries(columns).map(([name, cell]) => sql`${cell} as ${sql.ref(name)}`))
}

export function isoTimeOf(time: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/**
 * Converts the cells of a database row. Amounts become numbers or bigints, because the driver returns `numeric` as
 * text.
 */
export function cellsOf(row: SqlRow): ReportRow {
  const cells = Object.entries(row).map(([name, value]): [string, Cell] => {
    if (typeof value !== 'string') return [name, value]
    if (isMicroUsd(name) && Number.isSafeInteger(Number(value))) return [name, Number(value)]
    return [name, isAmount(name) || isMicroUsd(name) ? BigInt(value) : value]
  })
  return Object.fromEntries(cells)
}

export function isAmount(column: string): boolean {
  return column.endsWith('BaseUnits')
}

export function isMicroUsd(column: string): boolean {
  return column.endsWith('MicroUsd')
}

/**
 * Cuts the page from the rows. The query reads one row more than the limit, so that a following page is detected.
 * `last` is undefined on the last page.
 */
export function pageOf<Row>(rows: readonly Row[], { limit }: { readonly limit: number }) {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}
