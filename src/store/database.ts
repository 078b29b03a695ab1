import { Kysely, PostgresDialect } from 'kysely'
import { type DatabaseOptions, openDatabase as openPool, sqlState } from '@tollbook/ledger/database'
import type { Tables } from './tables.ts'

export { readOrFault } from '@tollbook/ledger/database'
export type { DatabaseOptions } from '@tollbook/ledger/database'

export type Database = Kysely<Tables>
export type Pool = ReturnType<typeof openPool>

/** A pool of connections, as typed queries. */
export function openDatabase(options: DatabaseOptions): Database {
  return databaseOn(openPool(options))
}

/** Typed queries on a pool that the ledger also uses. Destroying the database ends the pool. */
export function databaseOn(pool: Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** True for SQLSTATE `insufficient_privilege`: the login works but lacks a right. */
export function isDenied(error: unknown): boolean {
  return sqlState(error) === '42501'
}
