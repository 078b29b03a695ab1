import pg from 'pg'
import { Fault } from '@tollbook/core/fault'
import { type CopyBlock, CopyOut } from './copyOut.ts'

/** A live book at one moment: every table as it was when the source was opened. Reading is all that it can do. */
export interface DatabaseSource extends AsyncDisposable {
  /** A COPY of the query's rows, on a connection of its own. */
  copy(query: string): AsyncGenerator<CopyBlock>
  rows<T extends pg.QueryResultRow>(query: string, values?: readonly unknown[]): Promise<readonly T[]>
  hasTable(name: string): Promise<boolean>
}

const connectTimeoutMs = 10_000
// Events and entries are read side by side.
const copiesAtOnceMax = 2

/**
 * Opens one snapshot and shares it with further sessions, so that events, entries and projections are those of the same
 * moment while the service goes on writing. `tollbook_reader` may do all of it.
 */
export async function openDatabaseSource(databaseUrl: string): Promise<DatabaseSource> {
  await using opened = new AsyncDisposableStack()
  const main = await openSession(databaseUrl, opened)
  await main.query('begin isolation level repeatable read read only')
  const { rows } = await main.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot')
  const snapshot = rows[0]?.snapshot ?? ''
  const idle: pg.Client[] = []
  for (let index = 0; index < copiesAtOnceMax; index++) {
    const session = await openSession(databaseUrl, opened)
    await session.query('begin isolation level repeatable read read only')
    await session.query(`set transaction snapshot ${session.escapeLiteral(snapshot)}`)
    idle.push(session)
  }
  const kept = opened.move()
  return {
    async *copy(query) {
      const session = idle.pop()
      if (session === undefined)
        throw new Fault('more tables are read at once than there are sessions', { retryable: false })
      yield* session.query(new CopyOut(query)).blocks()
      idle.push(session)
    },
    async rows<T extends pg.QueryResultRow>(query: string, values: readonly unknown[] = []) {
      return (await main.query<T>(query, [...values])).rows
    },
    async hasTable(name) {
      const { rows } = await main.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [name])
      return rows[0]?.exists === true
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openSession(databaseUrl: string, opened: AsyncDisposableStack): Promise<pg.Client> {
  const session = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'tollbook audit',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  // A session that breaks is told by the query that was under way.
  session.on('error', () => undefined)
  try {
    await session.connect()
  } catch (error) {
    throw new Fault('the database cannot be reached', { cause: error, retryable: true })
  }
  opened.defer(() => session.end())
  // An audit takes as long as the book is long; and it is no idler while it waits for a slow node.
  await session.query('set statement_timeout = 0')
  await session.query('set idle_in_transaction_session_timeout = 0')
  await session.query("set timezone = 'UTC'")
  return session
}
