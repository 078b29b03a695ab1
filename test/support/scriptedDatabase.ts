import { Kysely, PostgresDialect } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'

/** A database whose rows are the answers of a function to each statement and its values. Nothing leaves the process. */
export function scriptedDatabase(
  answer: (statement: string, values: readonly unknown[]) => readonly object[],
): Database {
  const client = {
    query(statement: string, values: readonly unknown[] = []) {
      const rows = answer(statement, values)
      return Promise.resolve({ command: 'SELECT', rowCount: rows.length, rows: [...rows] })
    },
    release: () => undefined,
  }
  const pool = { connect: () => Promise.resolve(client), end: () => Promise.resolve() }
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: Object.assign(Object.create(null), pool) }) })
}
