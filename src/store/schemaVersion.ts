import { sql } from 'kysely'
import { type Database, sqlState } from './database.ts'
import { migrationNames } from './migrate.ts'

export type SchemaVersion = { readonly fits: true } | { readonly fits: false; readonly advice: string }

const undefinedTable = '42P01'
const undefinedSchema = '3F000'
const insufficientPrivilege = '42501'

/** Does the database have exactly the migrations of this code? A service on another schema would corrupt or fail late. */
export async function checkSchemaVersion(database: Database): Promise<SchemaVersion> {
  const known = await migrationNames()
  const applied = await appliedMigrations(database)
  if (applied === undefined) return { fits: false, advice: 'the database has no ledger yet: run `tollbook migrate`' }
  const missing = known.filter((name) => !applied.includes(name))
  const ahead = applied.filter((name) => !known.includes(name))
  if (ahead.length > 0) {
    return {
      fits: false,
      advice: `the database is newer than this program (${ahead.join(', ')}): start the release that made these migrations`,
    }
  }
  if (missing.length > 0) {
    return {
      fits: false,
      advice: `the database is older than this program (missing ${missing.join(', ')}): run \`tollbook migrate\``,
    }
  }
  return { fits: true }
}

async function appliedMigrations(database: Database): Promise<readonly string[] | undefined> {
  try {
    const { rows } = await sql<{ name: string }>`select name from migration.kysely_migration order by name`.execute(
      database,
    )
    return rows.map((row) => row.name)
  } catch (error) {
    const state = sqlState(error)
    if (state === undefinedTable || state === undefinedSchema || state === insufficientPrivilege) return undefined
    throw error
  }
}
