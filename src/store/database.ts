import { Kysely, PostgresDialect, sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { type DatabaseOptions, openDatabase as openPool, readOrFault, sqlState } from '@tollbook/ledger/database'
import type { Tables } from './tables.ts'

export { readOrFault }
export type { DatabaseOptions } from '@tollbook/ledger/database'

export type Database = Kysely<Tables>
export type Pool = ReturnType<typeof openPool>

export function openDatabase(options: DatabaseOptions): Database {
  return databaseOn(openPool(options))
}

/** Destroying the returned database also ends the pool, which the ledger may share. */
export function databaseOn(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** True for SQLSTATE `insufficient_privilege`: the login works but lacks a right. */
export function isDenied(error: unknown): boolean {
  return sqlState(error) === '42501'
}

/** The query throws a retryable `Fault` that names `what` if the database does not answer. */
export function readRows(database: Database, what: string) {
  return async <Row>(query: TemplateStringsArray, ...values: readonly unknown[]): Promise<readonly Row[]> => {
    return (await readOrFault(what, () => sql<Row>(query, ...values).execute(database))).rows
  }
}

/** Reads the row of a query that always returns one. A result without a row is a bug, so it fails an assertion. */
export function assertRow(database: Database, what: string) {
  return async <Row>(query: TemplateStringsArray, ...values: readonly unknown[]): Promise<Row> => {
    return assertPresent((await readRows(database, what)<Row>(query, ...values))[0], `the query for ${what} has a row`)
  }
}
