import { Kysely, PostgresDialect, sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { type DatabaseOptions, openDatabase as openPool, readOrFault, sqlState } from '@tollbook/ledger/database'
import type { Tables } from './tables.ts'

export { readOrFault }
export type { DatabaseOptions } from '@tollbook/ledger/database'

/** Typed queries on a pool, or in one database transaction. */
export type Database = Kysely<Tables>
export type Pool = ReturnType<typeof openPool>

/** Opens a database with a separate pool. `databaseOn` uses an existing pool instead. */
export function openDatabase(options: DatabaseOptions): Database {
  return databaseOn(openPool(options))
}

/** Creates typed queries on a pool that the ledger also uses. Destroying the returned database ends the pool. */
export function databaseOn(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** True for SQLSTATE `insufficient_privilege`: the login works but lacks a right. */
export function isDenied(error: unknown): boolean {
  return sqlState(error) === '42501'
}

/**
 * Creates the template tag for a query that returns rows. The query throws a retryable `Fault` that names `what` if the
 * database does not answer.
 */
export function readRows(database: Database, what: string) {
  return async <Row>(query: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly Row[]> => {
    return (await readOrFault(what, () => sql<Row>(query, ...values).execute(database))).rows
  }
}

/** Like `readRows`, for a query that always returns a row. A result without a row is a bug and fails an assertion. */
export function assertRow(database: Database, what: string) {
  return async <Row>(query: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row> => {
    return assertPresent((await readRows(database, what)<Row>(query, ...values))[0], `the query for ${what} has a row`)
  }
}
