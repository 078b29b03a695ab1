import { sql } from 'kysely'
import { describeError } from '@tollbook/core/fault'
import type { Database } from './database.ts'

/** Undefined when every acknowledged commit survives a crash; otherwise what is wrong (I27). */
export async function findDurabilityProblem(database: Database): Promise<string | undefined> {
  try {
    const { rows } = await sql<Settings>`
      select current_setting('fsync') as fsync,
        current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_commit') as synchronous_commit,
        pg_is_in_recovery() as in_recovery`.execute(database)
    const [settings] = rows
    if (settings === undefined) return 'the database did not tell its settings'
    if (settings.in_recovery) return 'the database is a standby: connect to the primary'
    const off = (['fsync', 'full_page_writes', 'synchronous_commit'] as const).filter((name) => isOff(settings[name]))
    return off.length === 0 ? undefined : `the database may lose acknowledged commits: turn on ${off.join(', ')}`
  } catch (error) {
    return `the database does not answer: ${describeError(error)}`
  }
}

interface Settings {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly in_recovery: boolean
}

// `synchronous_commit` has stronger values than `on` (remote_write, remote_apply) and one weaker than needed: `local`
// is durable on this server, which is what a crash of it needs.
function isOff(value: string): boolean {
  return value === 'off'
}
