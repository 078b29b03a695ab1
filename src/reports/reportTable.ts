/** A report as plain data. A bigint is an amount in base units; nothing is rounded. */
export interface ReportTable {
  readonly columns: readonly string[]
  readonly rows: readonly ReportRow[]
  /** Of all that was asked for and not of this page. Undefined where nothing sums it up at a bounded cost. */
  readonly totals: ReportRow | undefined
  /** Where the next page starts; undefined on the last one. */
  readonly next: string | undefined
}

export type ReportRow = Readonly<Record<string, Cell>>
export type Cell = string | number | bigint | null

/** As the database gives numbers: `numeric` as text, counts as numbers. */
export type SqlRow = Readonly<Record<string, string | number | null>>

/** Columns whose names end in BaseUnits become amounts, here and nowhere else. */
export function cellsOf(row: SqlRow): ReportRow {
  const cells = Object.entries(row).map(([name, value]): [string, Cell] => [
    name,
    typeof value === 'string' && isAmount(name) ? BigInt(value) : value,
  ])
  return Object.fromEntries(cells)
}

export function isAmount(column: string): boolean {
  return column.endsWith('BaseUnits')
}

/** Cuts the row too many that was read to learn whether there is another page. */
export function pageOf<Row>(rows: readonly Row[], { limit }: { readonly limit: number }) {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}
