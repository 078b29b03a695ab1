import { migrate } from '../../src/store/migrate.ts'
import { startDatabaseServer } from './databaseServer.ts'
import { type DatabaseTemplate, createDatabaseTemplate, dropDatabaseTemplate } from './databaseTemplate.ts'

export type Close = () => Promise<unknown>

/** The Postgres of a test run and its one migrated template. Resources are registered for closing as they are opened. */
export async function prepareRunDatabase(toClose: Close[]): Promise<DatabaseTemplate> {
  const server = await startDatabaseServer(process.env)
  toClose.push(server.stop)
  const template = await createDatabaseTemplate({ adminUrl: server.adminUrl, migrate })
  toClose.push(() => dropDatabaseTemplate(template))
  return template
}
