import { sql } from 'kysely'
import { assert } from '@tollbook/core/assert'
import type { Database } from './database.ts'

/**
 * Runs the work unless another instance is at it. The lock only saves work: whatever is appended is decided by expected
 * versions, so two at once would do no harm. It goes with its session, also by kill -9.
 */
export async function runElected(database: Database, name: string, work: () => Promise<void>): Promise<void> {
  assert(name !== '', 'elected work has a name')
  await database.connection().execute(async (session) => {
    const { rows } = await sql<{
      locked: boolean
    }>`select pg_try_advisory_lock(hashtext(${name})) as locked`.execute(session)
    if (rows[0]?.locked !== true) return
    try {
      await work()
    } finally {
      await sql`select pg_advisory_unlock(hashtext(${name}))`.execute(session)
    }
  })
}
