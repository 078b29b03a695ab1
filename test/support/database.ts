import { inject } from 'vitest'
import { afterFile } from './afterFile.ts'
import { askForTemplate } from './databaseBroker.ts'
import { type TestDatabase, cloneTemplate } from './testDatabase.ts'

/**
 * A migrated database for one test file. The first file that asks starts the Postgres of the run. The database is
 * dropped after the file, and the file fails if it left a session open.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await cloneTemplate(await askForTemplate(inject('databaseBroker')))
  afterFile(database.drop)
  return database
}
