import pg from 'pg'
import { assert } from '@tollbook/core/assert'
import { describeError, Fault } from '@tollbook/core/fault'

export interface LedgerLog {
  warn(fields: object): void
  error(fields: object): void
}

/** A pool or a client that runs queries. */
export type QueryRunner = Pick<pg.Pool, 'query'>

export interface DatabaseOptions {
  readonly databaseUrl: string
  /** Name in pg_stat_activity, so that an operator can identify these connections. */
  readonly applicationName: string
  readonly connectionsMax: number
  /** Time limit of a statement. Default: 15 s. Readers of the whole ledger need a longer limit. */
  readonly statementTimeoutMs?: number
  /** Time limit of connecting. Default: 5 s. */
  readonly connectTimeoutMs?: number
  readonly log: LedgerLog
  /**
   * Runs on each new connection before its first use. If it rejects, the connection is closed and the caller gets the
   * error.
   */
  readonly onConnect?: (connection: QueryRunner) => Promise<void>
}

// A statement that takes longer counts as stuck, so the server cancels it.
const standardStatementTimeoutMs = 15_000
// Extra time before the client gives up a query, for a server that vanished without closing the connection. The outcome
// of a write is then unknown.
const queryTimeoutMoreMs = 5_000
const standardConnectTimeoutMs = 5_000
// Keep idle connections for 5 minutes instead of pg's 10 s, because a new one costs 20 ms of planning and a SCRAM
// login.
const idleTimeoutMs = 5 * 60_000
// Maximum wait for a lock. Appends hold the lock of the head for milliseconds, so a longer wait suggests that commits
// hang, for example without the required standby. A 503 answer is then better than a queue.
const lockTimeoutMs = 5_000

/** Limits the time of connecting, locks, statements and answers. The first query opens a connection. */
export function openDatabase(options: DatabaseOptions): pg.Pool {
  const { statementTimeoutMs = standardStatementTimeoutMs, onConnect } = options
  const { connectTimeoutMs = standardConnectTimeoutMs } = options
  assert(options.connectionsMax > 0 && statementTimeoutMs > 0, 'a pool has connections and time')
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    max: options.connectionsMax,
    statement_timeout: statementTimeoutMs,
    lock_timeout: Math.min(lockTimeoutMs, statementTimeoutMs),
    query_timeout: statementTimeoutMs + queryTimeoutMoreMs,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    keepAlive: true,
    // Use `onConnect` and not `verify`: if a caller's wait ended during `verify`, the caller would lose its connection
    // while its statement still runs. The pool awaits this promise, although its types do not show that.
    ...(onConnect === undefined ? {} : { onConnect: (connection: QueryRunner): unknown => onConnect(connection) }),
    types: typeParsers(),
  })
  // Listen to the error events of broken connections, because an event without a listener would end the process. An
  // idle connection emits the event on the pool, and a connection in use emits it on its client. The running query
  // reports the error too.
  pool.on('error', (error) => options.log.warn({ event: 'database_connection_lost', error: describeError(error) }))
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

const int8 = 20
const int8Array = 1016

/** Positions and counts become numbers. A number that would lose digits fails an assertion. */
function typeParsers(): pg.CustomTypesConfig {
  const parsers = new pg.TypeOverrides()
  parsers.setTypeParser(int8, safeInteger)
  parsers.setTypeParser(int8Array, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(safeInteger)))
  return parsers
}

function safeInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `an integer column holds a safe integer, not ${text}`)
  return value
}

/**
 * Meaning of a failed write. `refused`: the server will never take these bytes. `undone`: certainly rolled back, by a
 * lasting error such as a full disk. `passing`: rolled back by an error that ends within seconds. `unknown`: the
 * connection broke or the server was shutting down (of 320 such outcomes measured, 118 had committed).
 */
export type WriteFailure = 'refused' | 'undone' | 'passing' | 'unknown'

/** Only `passing` and `unknown` are worth a retry while the caller waits. */
export function judgeWriteFailure(error: unknown): WriteFailure {
  const code = sqlState(error)
  if (code === undefined || unknownOutcome.test(code)) return 'unknown'
  if (passing.test(code)) return 'passing'
  return aboutTheContent.test(code) ? 'refused' : 'undone'
}

// 08: connection. 57P: shutdown. 40003: completion unknown. XX: internal error of the server.
const unknownOutcome = /^(?:08|57P|40003|XX)/
// 40: serialization, deadlock. 53300: every connection is in use. 25006: a failover demotes or promotes the server.
// 57014: a person cancelled the statement. A statement timeout has this code too, but leaves no time for a retry.
const passing = /^(?:40|53300|25006|57014)/
// 21, 22, 23, 44: cardinality, data, integrity, check option. 54: too large. P0: raised by a function.
const aboutTheContent = /^(?:21|22|23|44|54|P0)/

/** Returns the five characters of SQLSTATE. Undefined for an error that Postgres did not send. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Converts a failure to a retryable `Fault`, because the same query may succeed later. */
export async function readOrFault<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw new Fault(`the ledger could not be read: ${what}`, { cause: error, retryable: true })
  }
}
