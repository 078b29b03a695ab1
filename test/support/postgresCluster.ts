import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { type Log, silentLog } from '../../src/machine/log.ts'
import { migrate } from '../../src/store/migrate.ts'
import { afterFile } from './afterFile.ts'
import { awaitThat } from './awaitThat.ts'
import { createDatabaseTemplate } from './databaseTemplate.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'
import { type TestDatabase, cloneTemplate } from './testDatabase.ts'

/** An embedded Postgres that belongs to one test file, to be killed and restarted. Durable, like the shared one. */
export interface PostgresCluster {
  readonly postgres: EmbeddedPostgres
  readonly createDatabase: () => Promise<TestDatabase>
  /** kill -9 of the postmaster, as the kernel does when memory runs out. Returns at once. */
  readonly killPostmaster: () => void
  /** Returns when the supervisor has brought it back after a kill, and it accepts connections. */
  readonly awaitReturn: () => Promise<void>
}

export interface PostgresClusterOptions {
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: Log
}

export async function startPostgresCluster(options: PostgresClusterOptions = {}): Promise<PostgresCluster> {
  const { settings = {}, log = silentLog } = options
  const directory = await makeScratchDirectory()
  const postgres = await startEmbeddedPostgres({ dataDirectory: `${directory}/postgres`, log, settings })
  afterFile(() => postgres.stop())
  const template = await createDatabaseTemplate({ adminUrl: postgres.adminUrl, migrate })
  let killed = 0
  return {
    postgres,
    createDatabase: () => cloneTemplate(template),
    killPostmaster: () => {
      killed = postgres.pid()
      process.kill(killed, 'SIGKILL')
    },
    awaitReturn: async () => {
      await awaitThat('Postgres is back after it was killed', () => postgres.pid() !== killed)
    },
  }
}
