import pg from 'pg'
import { AuditFault } from './auditFault.ts'
import { type CopyBlock, CopyOut, unreadable } from './copyOut.ts'
import { invariant } from './invariant.ts'

/** A live ledger at one moment: every table as it was when the source was opened. It can only read. */
export interface DatabaseSource extends AsyncDisposable {
  /** A COPY of the query's rows, on a separate connection. */
  copy(query: string): AsyncGenerator<CopyBlock>
  /** Starts a COPY in a third session at once, to be read later. For one long query. */
  copyBeside(query: string): AsyncGenerator<CopyBlock>
  rows<T extends pg.QueryResultRow>(query: string, values?: readonly unknown[]): Promise<readonly T[]>
  /** Does the role that connects have the right to read this table? */
  mayRead(table: string): Promise<boolean>
}

const connectTimeoutMs = 10_000
// An audit of a long ledger takes long, and its sessions rest while it waits for a slow node. The other settings are the role's and the
// database's to change: operators of another schema would compare as its owner likes, and values would be written in another form.
const sessionSettings = [
  'search_path = pg_catalog',
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
  "timezone = 'UTC'",
  "datestyle = 'ISO, MDY'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
]
// Sums over a whole ledger: hash joins in memory, and no plan for the few rows of a table that was never analysed.
const besideSettings = ["work_mem = '128MB'", 'jit = off', 'enable_nestloop = off', 'enable_mergejoin = off']

/**
 * Opens one snapshot and shares it with two more sessions, so that the events and all derived tables are those of the same
 * moment while the service goes on writing: the second session copies one table after the other, the third one derives the
 * reports, the first one answers queries meanwhile. A member of `tollbook_reader` may do all of it.
 */
export async function openDatabaseSource(databaseUrl: string): Promise<DatabaseSource> {
  const main = await openSession(databaseUrl)
  try {
    await main.query('begin isolation level repeatable read read only')
    const { rows } = await main.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot')
    const snapshot = rows[0]?.snapshot ?? ''
    const copier = await joinSnapshot(databaseUrl, snapshot)
    try {
      const beside = await joinSnapshot(databaseUrl, snapshot)
      for (const setting of besideSettings) await beside.query(`set local ${setting}`)
      return sourceOf({ main, copier, beside })
    } catch (error) {
      await copier.end()
      throw error
    }
  } catch (error) {
    await main.end()
    throw error
  }
}

async function joinSnapshot(databaseUrl: string, snapshot: string): Promise<pg.Client> {
  const session = await openSession(databaseUrl)
  try {
    await session.query('begin isolation level repeatable read read only')
    await session.query(`set transaction snapshot ${session.escapeLiteral(snapshot)}`)
    return session
  } catch (error) {
    await session.end()
    throw error
  }
}

interface Sessions {
  readonly main: pg.Client
  readonly copier: pg.Client
  readonly beside: pg.Client
}

function sourceOf({ main, copier, beside }: Sessions): DatabaseSource {
  let isCopying = false
  return {
    async *copy(query) {
      invariant(!isCopying, 'a table is read to its end before the next one')
      isCopying = true
      yield* copier.query(new CopyOut(query)).blocks()
      isCopying = false
    },
    copyBeside: (query) => beside.query(new CopyOut(query)).blocks(),
    rows: <T extends pg.QueryResultRow>(query: string, values: readonly unknown[] = []) => read<T>(main, query, values),
    async mayRead(table) {
      const [row] = await read<{ may: boolean }>(main, `select has_table_privilege($1, 'select') as may`, [table])
      return row?.may === true
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([main.end(), copier.end(), beside.end()])
    },
  }
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

async function openSession(databaseUrl: string): Promise<pg.Client> {
  const session = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'tollbook audit',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  // The current query reports a session that breaks.
  session.on('error', () => undefined)
  try {
    await session.connect()
  } catch (error) {
    throw new AuditFault('the database cannot be reached', { cause: error, retryable: true })
  }
  for (const setting of sessionSettings) await session.query(`set ${setting}`)
  return session
}
