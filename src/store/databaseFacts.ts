import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import { openDatabase as openPool } from '@tollbook/ledger/database'
import { type Database, databaseOn, type DatabaseOptions, type Pool, readOrFault, assertRow } from './database.ts'

/** Destroying `database` ends `pool`, so a caller ends only one of them. */
export interface Login {
  readonly pool: Pool
  readonly database: Database
}

/** The first query opens the connection, so this call succeeds even while the database is down. */
export function openLogin(options: Omit<DatabaseOptions, 'applicationName'>): Login {
  const pool = openPool({ ...options, applicationName: 'tollbook doctor' })
  return { pool, database: databaseOn(pool) }
}

/** Properties of a login with which it bypasses the triggers and grants of the ledger. */
export interface LoginPower {
  readonly login: string
  readonly isSuperuser: boolean
  readonly ownsTables: boolean
}

export interface DatabaseFacts extends LoginPower {
  readonly version: string
  /** Version of the server as a number, for example 170004 for version 17.4. */
  readonly versionNumber: number
  readonly mayServe: boolean
  readonly mayDropQuotes: boolean
  /** Tables of Tollbook that the login may change without the functions of the ledger, and so without their checks. */
  readonly writableTables: readonly string[]
  /** Tables of the ledger without an `ALWAYS` trigger, which `session_replication_role` cannot switch off. */
  readonly unguardedTables: readonly string[]
  readonly archiveMode: string
  readonly lastArchivedAt: Date | null
  readonly lastArchiveFailureAt: Date | null
  /** State of `pg_receivewal`. Null if its replication slot does not exist. */
  readonly walReceiver: 'active' | 'inactive' | null
  readonly bytes: number
}

/**
 * Replication slot of `pg_receivewal` (docs/operations.md). The server keeps its write-ahead log for the slot while the
 * receiver is down.
 */
const walSlot = 'tollbook_wal'

// Tables of the schema `ledger` whose rows a migration replaces. The rows of all other tables come from functions of
// the ledger.
const declarations = ['kinds', 'steps', 'classes', 'code']

export const serviceLoginFix = 'use a login that is a member of tollbook_service only (deploy/postgres/roles.sh)'

/**
 * Explains why the service should not use a login: a superuser or an owner can switch off the triggers of the ledger.
 * Undefined if the login is neither.
 */
export function findLoginProblem({ login, isSuperuser, ownsTables }: LoginPower): string | undefined {
  if (!isSuperuser && !ownsTables) return undefined
  const why = isSuperuser ? 'is a superuser' : 'owns tables'
  return `DATABASE_URL logs in as ${login}, which ${why}: nothing protects the ledger from it`
}

const ourTables = sql`
  select c.oid, n.nspname, format('%s.%s', n.nspname, c.relname) as name, c.relname, c.relowner
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('ledger', 'paywall', 'work', 'reports', 'signer') and c.relkind in ('r', 'p')`
const loginColumns = sql`
  current_user as login,
  (select rolsuper from pg_catalog.pg_roles where rolname = current_user) as "isSuperuser",
  exists (select from ours where pg_catalog.pg_has_role(relowner, 'usage')) as "ownsTables"`

/** Reads the rights of the login. The query needs no rights itself, so the service can check any login at its start. */
export async function readLoginPower(database: Database): Promise<LoginPower> {
  return assertRow(database, 'the rights of the login')<LoginPower>`
    with ours as (${ourTables}) select ${loginColumns}`
}

export async function readDatabaseFacts(database: Database): Promise<DatabaseFacts> {
  return assertRow(database, 'facts about the database')<DatabaseFacts>`
    with ours as (${ourTables})
    select ${loginColumns},
      current_setting('server_version') as version,
      current_setting('server_version_num')::int as "versionNumber",
      pg_catalog.pg_has_role('tollbook_service', 'usage') as "mayServe",
      pg_catalog.pg_has_role('tollbook_retention', 'usage') as "mayDropQuotes",
      array(select name from ours where pg_catalog.has_table_privilege(oid, 'insert, update, delete, truncate')
        order by name) as "writableTables",
      array(select name from ours where nspname = 'ledger' and relname <> all(${declarations}) and not exists (
        select from pg_catalog.pg_trigger t where t.tgrelid = ours.oid and t.tgenabled = 'A') order by name) as "unguardedTables",
      current_setting('archive_mode') as "archiveMode",
      a.last_archived_time as "lastArchivedAt", a.last_failed_time as "lastArchiveFailureAt",
      (select case when active then 'active' else 'inactive' end from pg_catalog.pg_replication_slots
        where slot_name = ${walSlot}) as "walReceiver",
      pg_catalog.pg_database_size(current_database())::float8 as bytes
    from pg_catalog.pg_stat_archiver a`
}

/**
 * False for database engines that accept an advisory lock without excluding other sessions. Two migrations could then
 * run at the same time.
 */
export async function advisoryLocksExclude(database: Database): Promise<boolean> {
  const take = sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(hashtext('tollbook doctor')) as taken`
  return readOrFault('an advisory lock', () =>
    database.transaction().execute(async (first) => {
      const mine = (await take.execute(first)).rows[0]?.taken
      // The second transaction uses another connection, because a session may take its own advisory lock again.
      const theirs = await database.transaction().execute(async (second) => (await take.execute(second)).rows[0]?.taken)
      return mine === true && theirs === false
    }),
  )
}

/**
 * Tests whether the ledger refuses a deletion by its owner, and returns the refusal. The statement selects no rows, so
 * a ledger without its trigger loses nothing. Undefined if the ledger allowed the deletion.
 */
export async function refusalOfOwner(owner: Database): Promise<string | undefined> {
  try {
    await sql`delete from ledger.settings where false`.execute(owner)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export async function readDatabaseClockMs(database: Database): Promise<number> {
  const { clock_ms: clockMs } = await assertRow(database, 'the clock of the database')<{ clock_ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as clock_ms`
  assert(Number.isSafeInteger(clockMs), 'a clock has whole milliseconds')
  return clockMs
}
