import pg from 'pg'
import { AuditFault } from './auditFault.ts'
import { type CopyBlock, CopyOut } from './copyOut.ts'

/** A live ledger at one moment: every table as it was when the source was opened. It can only read. */
export interface DatabaseSource extends AsyncDisposable {
  /** A COPY of the query's rows, on a connection of its own. */
  copy(query: string): AsyncGenerator<CopyBlock>
  rows<T extends pg.QueryResultRow>(query: string, values?: readonly unknown[]): Promise<readonly T[]>
  /** Does the role that connects have the right to read this table? */
  mayRead(table: string): Promise<boolean>
}

const connectTimeoutMs = 10_000
// A table is read to its end before the next one; the main session answers queries meanwhile.
const copiesAtOnceMax = 1

/**
 * Opens one snapshot and shares it with further sessions, so that the events and all derived tables are those of the same
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
        throw new AuditFault('more tables are read at once than there are sessions', { retryable: false })
      yield* session.query(new CopyOut(query)).blocks()
      idle.push(session)
    },
    async rows<T extends pg.QueryResultRow>(query: string, values: readonly unknown[] = []) {
      return (await main.query<T>(query, [...values])).rows
    },
    async mayRead(table) {
      const question = `select has_table_privilege($1, 'select') as may`
      const { rows } = await main.query<{ may: boolean }>(question, [table])
      return rows[0]?.may === true
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
  // The query that is under way reports a session that breaks.
  session.on('error', () => undefined)
  try {
    await session.connect()
  } catch (error) {
    throw new AuditFault('the database cannot be reached', { cause: error, retryable: true })
  }
  opened.defer(() => session.end())
  // An audit of a long ledger takes long, and its sessions rest while it waits for a slow node.
  await session.query('set statement_timeout = 0')
  await session.query('set idle_in_transaction_session_timeout = 0')
  await session.query("set timezone = 'UTC'")
  return session
}
