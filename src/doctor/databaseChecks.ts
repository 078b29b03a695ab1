import type { Clock } from '@tollbook/core/clock'
import { errorText } from '@tollbook/core/fault'
import type { Log } from '../machine/log.ts'
import type { Database } from '../store/database.ts'
import {
  advisoryLocksExclude,
  type DatabaseFacts,
  findLoginProblem,
  type Login,
  openLogin,
  readDatabaseClockMs,
  readDatabaseFacts,
  refusalOfOwner,
  serviceLoginFix,
} from '../store/databaseFacts.ts'
import { findCommitProblem, findDurabilityProblem } from '../store/durability.ts'
import type { FindDifferingFunctions } from '../store/migrate.ts'
import { checkSchemaVersion, differingFunctions } from '../store/schemaVersion.ts'
import { type Check, failed, passed, type Result, skipped, warning } from './check.ts'

export interface DatabaseCheckOptions {
  readonly requiresStandby: boolean
  /**
   * Value of MIGRATION_DATABASE_URL, a login that owns the tables. Undefined: the checks do not test whether triggers
   * fire.
   */
  readonly ownerUrl: string | undefined
  readonly login: Login
  readonly clock: Clock
  readonly log: Log
  /** Compares the functions of the database with this release. Absent if the audit compares them. */
  readonly findDifferingFunctions?: FindDifferingFunctions
}

// Minimum version of Postgres, 15. Older versions lack features that the migrations use.
const versionMin = 150_000
// Clock difference above which the check warns. The service closes paid routes at 30 s.
const skewMsMax = 2_000
const archiveLagMsMax = 15 * 60_000

/** Returns the checks of the database. Without a connection the first check fails, and the others are skipped. */
export function databaseChecks(options: DatabaseCheckOptions): readonly Check[] {
  const { requiresStandby, clock } = options
  const { database } = options.login
  let facts: Promise<DatabaseFacts> | undefined
  // Read the facts once, because several checks need them.
  const read = () => (facts ??= readDatabaseFacts(database))
  const answers = () =>
    read().then(
      () => true,
      () => false,
    )
  const needing = ({ name, run }: Check): Check => ({
    name,
    run: async () => ((await answers()) ? run() : skipped('the database does not answer')),
  })
  const ofDatabase: readonly Check[] = [
    { name: 'schema', run: () => checkSchema(database) },
    ...(options.findDifferingFunctions === undefined ? [] : [functionsCheck(database, options.findDifferingFunctions)]),
    { name: 'login', run: async () => judgeLogin(await read()) },
    { name: 'grants', run: async () => judgeGrants(await read()) },
    { name: 'append-only triggers', run: async () => checkTriggers(options, await read()) },
    { name: 'durability', run: () => checkDurability(options) },
    { name: 'advisory locks', run: () => checkLocks(database) },
    { name: 'database clock', run: () => checkClock(database, clock) },
    {
      name: 'standby',
      run: () => (requiresStandby ? passed('required, and checked by durability') : noStandby),
    },
    { name: 'archive', run: async () => judgeArchive(await read(), clock.nowMs()) },
  ]
  return [{ name: 'database', run: () => read().then(judgeServer, judgeUnreachable) }, ...ofDatabase.map(needing)]
}

function judgeUnreachable(error: unknown): Result {
  const reason = error instanceof Error ? errorText(error) : String(error)
  return failed(reason, 'correct the address, the name of the database, the login or the password in DATABASE_URL')
}

const noStandby = warning(
  'no synchronous standby is required: a lost disk loses the payments since the last backup',
  'set REQUIRE_SYNCHRONOUS_STANDBY=1 on a replicated database (docs/high-availability.md)',
)

function judgeServer({ version, versionNumber, bytes }: DatabaseFacts): Result {
  if (versionNumber < versionMin) return failed(`PostgreSQL ${version} is too old`, 'use PostgreSQL 15 or newer')
  return passed(`PostgreSQL ${version}, ${Math.ceil(bytes / 1024 / 1024)} MB`)
}

async function checkSchema(database: Database): Promise<Result> {
  const schema = await checkSchemaVersion(database)
  const migration = 'run `tollbook migrate` with MIGRATION_DATABASE_URL'
  if (!schema.fits) return failed(schema.advice, schema.needsMigration ? migration : undefined)
  if (schema.difference === undefined) return passed('of this release')
  return warning(`newer than this release: ${schema.difference}`, 'upgrade this instance')
}

function functionsCheck(database: Database, findDifferingFunctions: FindDifferingFunctions): Check {
  return {
    name: 'functions',
    async run() {
      const differing = await differingFunctions(database, findDifferingFunctions)
      if (differing === undefined) return skipped('another release has migrated the database')
      if (differing.length === 0) return passed('those of this release')
      return failed(
        `a superuser has changed functions of the ledger: ${differing.join('; ')}`,
        'run `tollbook audit`, find out who changed them, then `tollbook migrate` applies the functions of this release again',
      )
    },
  }
}

function judgeLogin(facts: DatabaseFacts): Result {
  const { login, mayServe, mayDropQuotes } = facts
  const problem = findLoginProblem(facts)
  if (problem !== undefined) return failed(problem, serviceLoginFix)
  if (!mayServe) return failed(`${login} is not a member of tollbook_service`, `grant tollbook_service to ${login}`)
  if (mayDropQuotes) return passed(`${login}, which may serve and cannot change the ledger`)
  return warning(`${login} may not drop old quotes`, `grant tollbook_retention to ${login}`)
}

function judgeGrants({ writableTables }: DatabaseFacts): Result {
  if (writableTables.length === 0) return passed('the login writes through functions only')
  return failed(
    `the login may change ${writableTables.join(', ')} directly`,
    'revoke insert, update, delete, truncate on them',
  )
}

/**
 * Tests that triggers fire, because an engine that imitates Postgres may not fire them. Only the owner of the tables
 * can test this.
 */
async function checkTriggers({ ownerUrl, log }: DatabaseCheckOptions, facts: DatabaseFacts): Promise<Result> {
  const { unguardedTables } = facts
  if (unguardedTables.length > 0)
    return failed(`${unguardedTables.join(', ')} can be changed by the owner`, 'run `tollbook migrate`')
  if (ownerUrl === undefined)
    return passed('enabled on every table of the ledger; set MIGRATION_DATABASE_URL to see whether they fire')
  const { database: owner } = openLogin({ databaseUrl: ownerUrl, connectionsMax: 1, log })
  try {
    // Only a refusal by the trigger counts. Another refusal, such as a missing privilege, does not show that triggers
    // fire.
    const refusal = await refusalOfOwner(owner)
    if (refusal?.includes('append-only') === true) return passed('enabled on every table, and they refuse a deletion')
    return failed(
      refusal === undefined
        ? 'the owner was not refused a deletion: triggers do not fire on this engine'
        : `the owner was refused a deletion by something else: ${refusal}`,
      'use PostgreSQL, and the owner of the schema in MIGRATION_DATABASE_URL',
    )
  } finally {
    await owner.destroy()
  }
}

async function checkDurability({ login, requiresStandby }: DatabaseCheckOptions): Promise<Result> {
  const problem =
    (await findDurabilityProblem(login.database, { requiresStandby })) ?? (await findCommitProblem(login.pool))
  return problem === undefined ? passed('acknowledged commits survive a crash') : failed(problem)
}

async function checkLocks(database: Database): Promise<Result> {
  if (await advisoryLocksExclude(database)) return passed('a lock excludes another session')
  return failed('an advisory lock does not exclude another session', 'use PostgreSQL')
}

async function checkClock(database: Database, clock: Clock): Promise<Result> {
  const skewMs = Math.round((await readDatabaseClockMs(database)) - clock.nowMs())
  if (Math.abs(skewMs) <= skewMsMax) return passed(`${skewMs} ms from the clock of this machine`)
  return warning(`${skewMs} ms from the clock of this machine`, 'let both machines follow a time server')
}

type ArchiveFacts = Pick<DatabaseFacts, 'archiveMode' | 'lastArchivedAt' | 'lastArchiveFailureAt' | 'walReceiver'>

/**
 * Fails if the receiver is disconnected or archiving fails, because a restore then lacks the newest payments. Warns if
 * only base backups exist, or if the newest segment was archived long ago.
 */
export function judgeArchive(facts: ArchiveFacts, nowMs: number): Result {
  const { archiveMode, lastArchivedAt, lastArchiveFailureAt, walReceiver } = facts
  if (walReceiver === 'inactive')
    return failed(
      'the receiver of the write-ahead log is not connected: a restore lacks the payments since, and the disk of the server fills',
      'start `pg_receivewal`, or drop the replication slot tollbook_wal if it is no longer used',
    )
  if (archiveMode === 'off' && walReceiver === 'active')
    return passed('the write-ahead log is received as it is written')
  if (archiveMode === 'off')
    return warning(
      'archive_mode is off: a restore loses the payments since the last base backup',
      'archive the write-ahead log with pgBackRest (docs/operations.md, backups)',
    )
  const archivedMs = lastArchivedAt?.getTime()
  if ((lastArchiveFailureAt?.getTime() ?? 0) > (archivedMs ?? 0))
    return failed('archiving the write-ahead log fails', 'see the log of Postgres for archive_command')
  if (archivedMs === undefined) return skipped('nothing has been archived yet')
  const lagMs = nowMs - archivedMs
  const detail = `the last segment was archived ${Math.round(lagMs / 1000)} s ago`
  return lagMs <= archiveLagMsMax ? passed(detail) : warning(detail, 'set archive_timeout, for example to 60s')
}
