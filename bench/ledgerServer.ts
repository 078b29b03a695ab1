import { startEmbeddedPostgres } from '../src/local/postgres/embeddedPostgres.ts'
import { silentLog } from '../src/primitives/log.ts'
import { migrate } from '../src/store/migrate.ts'
import { createDatabaseTemplate } from '../test/support/databaseTemplate.ts'
import { makeTemporaryDirectory } from '../test/support/temporaryDirectory.ts'
import { cloneTemplate, type TestDatabase } from '../test/support/testDatabase.ts'

/** The embedded Postgres as local mode starts it: durable, with its default settings. */
export interface LedgerServer extends AsyncDisposable {
  /** A migrated database of its own for each bench. */
  createDatabase(): Promise<TestDatabase>
}

export async function startLedgerServer(): Promise<LedgerServer> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const postgres = await startEmbeddedPostgres({
    dataDirectory: `${directory.path}/postgres`,
    log: silentLog,
    settings: { max_connections: '200', fsync: process.env['NOSYNC'] ? 'off' : 'on' },
  })
  opened.defer(() => postgres.stop())
  const template = await createDatabaseTemplate({ adminUrl: postgres.adminUrl, migrate })
  const kept = opened.move()
  return { createDatabase: () => cloneTemplate(template), [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
