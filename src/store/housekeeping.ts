import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Makes the partitions that the coming days and positions will need. Safe from any instance at any time. */
export async function addPartitions(database: Database): Promise<void> {
  await sql`select ledger.add_partitions()`.execute(database)
}

/** Deletes answers that were kept for callers with an Idempotency-Key, when their day is over. */
export async function forgetOldAnswers(database: Database): Promise<void> {
  await sql`select paywall.forget_old_answers()`.execute(database)
}
