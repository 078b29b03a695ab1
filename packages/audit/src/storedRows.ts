import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { z } from 'zod'

export type Cell = string | number | bigint | boolean | null

/** Schema of an amount in base units. It is stored as text, because it may exceed SQLite's signed 64-bit integers. */
export const amount = z.string().transform(BigInt)
export const flag = z.number().transform((value) => value === 1)

// Maximum number of rows of one table that stay in memory after an event. A row has up to about 1 kB.
const recentMax = 8_000

export interface TableOf<R> {
  readonly name: string
  readonly key: string
  readonly schema: z.ZodType<R> & { readonly shape: Readonly<Record<string, unknown>> }
}

/** A table in the file of the state. Rows in use are objects in memory. They change in place until `flush` writes them. */
export class StoredRows<R extends Readonly<Record<string, Cell>>> {
  readonly #table: TableOf<R>
  /**
   * Rows that were used since the last `flush`, and may differ from the file. `#written` has the rows that are equal to
   * the file.
   */
  readonly #used = new Map<string, R>()
  readonly #written = new Map<string, R>()
  readonly #columns: readonly string[]
  readonly #find: StatementSync
  readonly #write: StatementSync
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync, table: TableOf<R>) {
    const { name, key, schema } = table
    this.#database = database
    this.#table = table
    this.#columns = Object.keys(schema.shape)
    const columns = this.#columns.map((column) => (column === key ? `${column} text primary key` : column))
    database.exec(`create table if not exists ${name} (${columns.join(', ')})`)
    this.#find = database.prepare(`select * from ${name} where ${key} = ?`)
    const places = this.#columns.map(() => '?').join(', ')
    this.#write = database.prepare(`insert or replace into ${name} values (${places})`)
  }

  find(key: string): R | undefined {
    const used = this.#used.get(key)
    if (used !== undefined) return used
    const row = this.#written.get(key) ?? this.#load(key)
    return row === undefined ? undefined : this.add(key, row)
  }

  add(key: string, row: R): R {
    this.#used.set(key, row)
    return row
  }

  /**
   * If more than `recentMax` rows are in memory, writes the used rows and frees the memory of all. Called between two
   * events.
   */
  trim(): void {
    if (this.#used.size + this.#written.size <= recentMax) return
    this.flush()
    this.#written.clear()
  }

  /** Writes the used rows to the file, so that queries find their current content. Called between two events. */
  flush(): void {
    for (const [key, row] of this.#used) {
      this.#write.run(...this.#columns.map((column) => cellOf(row[column])))
      this.#written.set(key, row)
    }
    this.#used.clear()
  }

  /** Returns a function that selects the rows with a given value in the column. The column should have an index. */
  selectBy(column: string): (value: string) => readonly R[] {
    this.flush()
    const statement = this.#database.prepare(`select * from ${this.#table.name} where ${column} = ?`)
    return (value) => statement.all(value).map((row) => this.#table.schema.parse(row))
  }

  /** Yields the rows that a clause selects, such as `where kind = 'payment'`. Without a clause, yields all rows. */
  *select(clause = ''): Generator<R> {
    this.flush()
    const rows = this.#database.prepare(`select * from ${this.#table.name} ${clause}`).iterate()
    for (const row of rows) yield this.#table.schema.parse(row)
  }

  #load(key: string): R | undefined {
    const stored = this.#find.get(key)
    return stored === undefined ? undefined : this.#table.schema.parse(stored)
  }
}

function cellOf(value: Cell | undefined): string | number | null {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'boolean') return value ? 1 : 0
  return value ?? null
}
