import pg from 'pg'
import { AuditFault } from './auditFault.ts'
import { type CopyBlock, CopyOut, unreadable } from './copyOut.ts'

/** A read-only snapshot of a live ledger. Every table has the content that it had when the source was opened. */
export interface DatabaseSource extends AsyncDisposable {
  /** Runs a COPY of the query in the second session. Read one COPY to its end before the next one starts. */
  copy(query: string): AsyncGenerator<CopyBlock>
  /** Runs a COPY in the third session, so that it can run during the replay. */
  copyBeside(query: string): AsyncGenerator<CopyBlock>
  rows<T extends pg.QueryResultRow>(query: string, values?: readonly unknown[]): Promise<readonly T[]>
  mayRead(table: string): Promise<boolean>
}

const connectTimeoutMs = 10_000
// Disable timeouts, because a session is idle while the audit waits for a slow node. Set the other parameters, because
// defaults of the role or database can change operators and the text form of values.
const sessionSettings = [
  'search_path = pg_catalog',
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
  "timezone = 'UTC'",
  "datestyle = 'ISO, MDY'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
]
// Settings for sums over a whole ledger: hash joins in memory. Disable other joins, which Postgres would choose for a
// table without statistics.
const besideSettings = ["work_mem = '128MB'", 'jit = off', 'enable_nestloop = off', 'enable_mergejoin = off']

/**
 * Opens one snapshot and shares it with two more sessions, so that all tables are consistent while the service writes.
 * The privileges of `tollbook_reader` are sufficient.
 */
export async function openDatabaseSource(databaseUrl: string): Promise<DatabaseSource> {
  const sessions: pg.Client[] = []
  const begin = async (): Promise<pg.Client> => {
    const session = newSession(databaseUrl)
    sessions.push(session)
    await openSession(session)
    return session
  }
  const close = async (): Promise<void> => void (await Promise.all(sessions.map((session) => session.end())))
  try {
    const main = await begin()
    const { rows } = await main.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot')
    const [copier, beside] = [await begin(), await begin()]
    for (const session of [copier, beside])
      await session.query(`set transaction snapshot ${session.escapeLiteral(rows[0]?.snapshot ?? '')}`)
    for (const setting of besideSettings) await beside.query(`set local ${setting}`)
    return {
      copy: (query) => copier.query(new CopyOut(query)).blocks(),
      copyBeside: (query) => beside.query(new CopyOut(query)).blocks(),
      rows: (query, values = []) => read(main, query, values),
      async mayRead(table) {
        const [row] = await read<{ may: boolean }>(main, `select has_table_privilege($1, 'select') as may`, [table])
        return row?.may === true
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export async function lastPositionOf(source: DatabaseSource): Promise<number> {
  const [row] = await source.rows<{ last: string | null }>('select max(seq) as last from ledger.events')
  return Number(row?.last ?? 0)
}

async function read<T extends pg.QueryResultRow>(
  session: pg.Client,
  query: string,
  values: readonly unknown[],
): Promise<readonly T[]> {
  try {
    return (await session.query<T>(query, [...values])).rows
  } catch (error) {
    throw unreadable(error)
  }
}

function newSession(connectionString: string): pg.Client {
  const common = { application_name: 'tollbook audit', connectionTimeoutMillis: connectTimeoutMs, keepAlive: true }
  try {
    const session = new pg.Client({ connectionString, ...common })
    // Handle the event, so that it does not end the process. The current query also reports a broken session.
    session.on('error', () => undefined)
    return session
  } catch (error) {
    throw new AuditFault('the URL of the database cannot be parsed', { cause: error, retryable: false })
  }
}

async function openSession(session: pg.Client): Promise<void> {
  try {
    await session.connect()
    await session.query([...sessionSettings.map((setting) => `set ${setting}`), beginSnapshot].join(';'))
  } catch (error) {
    throw new AuditFault('the database cannot be reached', { cause: error, retryable: true })
  }
}

const beginSnapshot = 'begin isolation level repeatable read read only'
