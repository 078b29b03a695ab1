import { CompiledQuery } from 'kysely'
import { checkSchemaVersion as checkSchema, type SchemaVersion } from '@tollbook/ledger/schemaVersion'
import type { Database } from './database.ts'
import { type FindDifferingFunctions, schemaSources } from './migrate.ts'

/** Compares the functions in the database with those of this release. */
export function differingFunctions(
  database: Database,
  find: FindDifferingFunctions,
): Promise<readonly string[] | undefined> {
  return find(async (text) => {
    const query = CompiledQuery.raw(text)
    return (await database.executeQuery<{ readonly name: string; readonly text: string }>(query)).rows
  })
}

/** Compares the schema of the database with the migrations, functions and declarations of this code. */
export function checkSchemaVersion(database: Database): Promise<SchemaVersion> {
  return checkSchema((text) => database.executeQuery<never>(CompiledQuery.raw(text)), schemaSources)
}
