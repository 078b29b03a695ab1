import { CompiledQuery } from 'kysely'
import { Fault } from '@tollbook/core/fault'
import { checkSchemaVersion as checkSchema, type SchemaVersion } from '@tollbook/ledger/schemaVersion'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
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

/**
 * Opens a database whose schema fits this program. Throws a `Fault` if it does not fit, or if the database of `whose`
 * cannot be reached.
 */
export async function openFitting(options: DatabaseOptions, whose: string): Promise<Database> {
  const database = openDatabase(options)
  try {
    const schema = await checkSchemaVersion(database)
    if (schema.fits) return database
    throw new Fault(schema.advice, { retryable: false })
  } catch (error) {
    await database.destroy()
    if (error instanceof Fault) throw error
    throw new Fault(`the database of ${whose} cannot be reached`, { cause: error, retryable: true })
  }
}
