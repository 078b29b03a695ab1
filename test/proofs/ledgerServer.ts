import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { silentLog } from '../../src/machine/log.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createDatabaseTemplate } from '../support/databaseTemplate.ts'
import { makeTemporaryDirectory } from '../support/temporaryDirectory.ts'
import { cloneTemplate, type TestDatabase } from '../support/testDatabase.ts'

/** The embedded Postgres as local mode starts it, durable and supervised, outside of a test run. */
export interface LedgerServer extends AsyncDisposable {
  readonly postgres: EmbeddedPostgres
  /** A migrated database for one owner. */
  createDatabase(): Promise<TestDatabase>
}

export async function startLedgerServer(settings: Readonly<Record<string, string>> = {}): Promise<LedgerServer> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const postgres = await startEmbeddedPostgres({
    dataDirectory: `${directory.path}/postgres`,
    log: silentLog,
    settings: { max_connections: '200', ...settings },
  })
  opened.defer(() => postgres.stop())
  const template = await createDatabaseTemplate({ adminUrl: postgres.adminUrl, migrate })
  const disposables = opened.move()
  return {
    postgres,
    createDatabase: () => cloneTemplate(template),
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}
