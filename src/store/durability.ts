import { sql } from 'kysely'
import { codeText, describeError } from '@tollbook/core/fault'
import type { Database, Pool } from './database.ts'

export interface DurabilityOptions {
  /**
   * True: paid routes are closed while no synchronous standby is attached, because a promotion could then lose a
   * commit. Default: false.
   */
  readonly requiresStandby?: boolean
}

/**
 * Undefined if the database keeps every acknowledged commit after a crash, and limits each wait. The payment of a lost
 * commit could buy again (I27).
 */
export async function findDurabilityProblem(
  database: Database,
  { requiresStandby = false }: DurabilityOptions = {},
): Promise<string | undefined> {
  try {
    const { rows } = await sql<Settings>`
      select current_setting('fsync') as fsync,
        current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_commit') as synchronous_commit,
        current_setting('lock_timeout') as lock_timeout,
        current_setting('statement_timeout') as statement_timeout,
        pg_is_in_recovery() as in_recovery`.execute(database)
    const [settings] = rows
    if (settings === undefined) return 'the database did not tell its settings'
    return findSettingProblem(settings) ?? (requiresStandby ? await findStandbyProblem(database) : undefined)
  } catch (error) {
    return `the database does not answer${codeText(error)}`
  }
}

interface Settings {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly lock_timeout: string
  readonly statement_timeout: string
  readonly in_recovery: boolean
}

function findSettingProblem(settings: Settings): string | undefined {
  if (settings.in_recovery) return 'the database is a standby: connect to the primary'
  // Only `off` is unsafe: with any other value, a commit is on the disk of this server before it is acknowledged.
  const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter((name) => settings[name] === 'off')
  if (off.length > 0) return `the database may lose acknowledged commits: turn on ${off.join(', ')}`
  // Each connection requests these limits, but a pooler can be configured to drop them.
  const unbounded = (['lock_timeout', 'statement_timeout'] as const).filter((name) => settings[name] === '0')
  if (unbounded.length === 0) return undefined
  return `a pooler drops ${unbounded.join(' and ')}: set them for the login of the service with ALTER ROLE`
}

async function findStandbyProblem(database: Database): Promise<string | undefined> {
  const { rows } = await sql<Replication>`
    select current_setting('synchronous_commit') as synchronous_commit,
      pg_has_role(current_user, 'pg_read_all_stats', 'usage') as may_see,
      (select count(*)::int from pg_stat_replication where state = 'streaming' and sync_state in ('sync', 'quorum')) as standbys`.execute(
    database,
  )
  const [replication] = rows
  if (replication === undefined) return 'the database did not tell its standbys'
  if (replication.synchronous_commit === 'local')
    return 'REQUIRE_SYNCHRONOUS_STANDBY is 1 and synchronous_commit is local: turn it on'
  if (!replication.may_see)
    return 'REQUIRE_SYNCHRONOUS_STANDBY is 1 and the login may not see standbys: GRANT pg_read_all_stats to it'
  return replication.standbys > 0 ? undefined : 'no synchronous standby is attached to the database'
}

interface Replication {
  readonly synchronous_commit: string
  readonly may_see: boolean
  readonly standbys: number
}

// Time limit of the probe. A commit takes milliseconds, so the health check reports hanging commits within seconds.
const probeTimeoutMs = 4_000

/**
 * Returns why the database cannot commit, or undefined if the commit of a probe succeeds. The probe waits for the same
 * locks as an append, so it also detects appends that hang.
 */
export async function findCommitProblem(pool: Pick<Pool, 'query'>): Promise<string | undefined> {
  try {
    await pool.query({ text: 'select ledger.probe_commit()', ...bounded })
    return undefined
  } catch (error) {
    return `the database takes no commits: ${describeError(error)}`
  }
}

// node-postgres reads this option, but its types lack it.
const bounded = { query_timeout: probeTimeoutMs }
