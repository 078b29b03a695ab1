import { sql } from 'kysely'
import { type Database, readOrFault } from '../store/database.ts'

/** How far the reports go, and how far the book does. They differ while the roll-up catches up. */
export interface ReportPosition {
  readonly position: number
  readonly headPosition: number
}

// About 0.2 s of work: short enough for a request to wait for, and for the lock on the progress to be free again soon.
export const eventsPerRollUpMax = 5_000

/**
 * Brings the reports' tables nearer to the head of the book; how many events it took. In a session that may only read, such
 * as an auditor's, it does nothing. The look at the head comes first: a lock is a write, and mostly there is nothing to do.
 */
export async function rollUp(database: Database, eventsMax = eventsPerRollUpMax): Promise<number> {
  const rolled = await readOrFault('the roll-up of the reports', async () => {
    const { rows } = await sql<{ rolled: number }>`
      select case when p.upto_seq < h.seq and has_function_privilege('reports.roll_up(integer)', 'execute')
        then reports.roll_up(${eventsMax}) else 0 end as rolled
      from reports.progress p cross join ledger.head h`.execute(database)
    return rows[0]?.rolled
  })
  return rolled ?? 0
}

export async function reportPosition(database: Database): Promise<ReportPosition> {
  const row = await readOrFault('the position of the reports', async () => {
    const { rows } = await sql<{ position: number; head: number }>`
      select p.upto_seq as position, h.seq as head from reports.progress p cross join ledger.head h`.execute(database)
    return rows[0]
  })
  return { position: row?.position ?? 0, headPosition: row?.head ?? 0 }
}
