import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'
import { Fault } from '@tollbook/core/fault'

const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))
const migrationFile = /^(\d{4}_[a-z_]+)\.sql$/

export interface MigrateOptions {
  /** A role that owns the database and may create roles; never the service's (docs/operations.md). */
  readonly databaseUrl: string
}

/** Brings the schema up to this code's version. Names of the migrations that were applied now. Forward only. */
export async function migrate({ databaseUrl }: MigrateOptions): Promise<readonly string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2, application_name: 'tollbook migrate' })
  const database = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const migrator = new Migrator({
      db: database,
      provider: { getMigrations: readMigrations },
      migrationTableSchema: 'migration',
    })
    const { error, results = [] } = await migrator.migrateToLatest()
    if (error !== undefined) {
      const failed = results.find((result) => result.status === 'Error')
      throw new Fault(`migration ${failed?.migrationName ?? ''} failed; nothing was changed`, {
        cause: error,
        retryable: false,
      })
    }
    await grantReading(database)
    return results.map((result) => result.migrationName)
  } finally {
    await database.destroy()
  }
}

/** One after the other: two sessions that grant on one schema at once fail with "tuple concurrently updated". */
async function grantReading(database: Kysely<unknown>): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(hashtext('tollbook migrate'))`.execute(transaction)
    await sql`grant usage on schema migration to tollbook_service, tollbook_payout`.execute(transaction)
    await sql`grant select on all tables in schema migration to tollbook_service, tollbook_payout`.execute(transaction)
  })
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = await migrationNames()
  const migrations = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(`${migrationsFolder}/${name}.sql`, 'utf8')
    return [name, { up: async (transaction) => void (await sql.raw(text).execute(transaction)) }]
  })
  return Object.fromEntries(await Promise.all(migrations))
}

/** The migrations that this code knows, in their order. */
export async function migrationNames(): Promise<readonly string[]> {
  const files = await readdir(migrationsFolder)
  return files.flatMap((file) => migrationFile.exec(file)?.[1] ?? []).sort()
}
