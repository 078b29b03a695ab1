import { sql } from 'kysely'
import type { Database } from './database.ts'
import { forgetSentAnswers } from './sentAnswers.ts'

/**
 * Adds the partitions that the next appends and quotes need. Any instance may call this at any time, because one
 * session at a time adds partitions.
 */
export async function addPartitions(database: Database): Promise<void> {
  await sql`select ledger.add_partitions()`.execute(database)
}

export async function forgetOldPresentations(database: Database): Promise<void> {
  await sql`select work.forget_old_presentations()`.execute(database)
}

// Maximum number of rows that one statement deletes (forget_old_notes.sql). If it deletes fewer, no more rows are left.
const forgottenMax = 100_000

/**
 * Deletes answers that may no longer be sent again, expired keys, answers older than a day, and the oldest answers
 * beyond the storage bound.
 */
export async function forgetOldAnswers(database: Database, repeatMs: number): Promise<void> {
  await forgetSentAnswers({ database, repeatMs })
  let forgotten = forgottenMax
  while (forgotten >= forgottenMax) {
    const { rows } = await sql<{ forgotten: number }>`select ledger.forget_old_notes()::integer as forgotten`.execute(
      database,
    )
    forgotten = rows[0]?.forgotten ?? 0
  }
}
