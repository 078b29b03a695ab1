import { CompiledQuery } from 'kysely'
import { checkSchemaVersion as checkSchema, type SchemaVersion } from '@tollbook/ledger/schemaVersion'
import type { Database } from './database.ts'
import { schemaSources } from './migrate.ts'

/** Compares the database with the migrations, functions and declarations of this code. */
export function checkSchemaVersion(database: Database): Promise<SchemaVersion> {
  return checkSchema((text) => database.executeQuery<never>(CompiledQuery.raw(text)), schemaSources)
}
