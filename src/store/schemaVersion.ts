import { CompiledQuery } from 'kysely'
import { Fault } from '@tollbook/core/fault'
import { checkSchemaVersion as checkSchema, type SchemaVersion } from '@tollbook/ledger/schemaVersion'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
import { type FindDifferingFunctions, schemaSources } from './migrate.ts'

export function differingFunctions(
  database: Database,
  find: FindDifferingFunctions,
): Promise<readonly string[] | undefined> {
  return find(async (text) => {
    const query = CompiledQuery.raw(text)
    return (await database.executeQuery<{ readonly name: string; readonly text: string }>(query)).rows
  })
}

export function checkSchemaVersion(database: Database): Promise<SchemaVersion> {
  return checkSchema((text) => database.executeQuery<never>(CompiledQuery.raw(text)), schemaSources)
}

/**
 * Throws a `Fault` if the schema does not fit this program or the database cannot be reached. `whose` names the
 * database in the message.
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
