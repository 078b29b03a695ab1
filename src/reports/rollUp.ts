import { type RawBuilder, sql } from 'kysely'
import { type Database, readOrFault } from '../store/database.ts'

/** Last position in the reports, and in the ledger. They differ while the roll-up catches up. */
export interface ReportPosition {
  readonly position: number
  readonly headPosition: number
}

// About 0.2 s of work: short enough for a request to wait for, and for the lock on the progress to be free again soon.
export const eventsPerRollUpMax = 5_000

/**
 * Brings the tables of the reports nearer to the head of the ledger; returns the number of processed events. Does
 * nothing in a session that may only read, such as an auditor's, or one on a standby. Checks first, because a lock is
 * a write and mostly there is nothing to do. The call is a separate statement: PostgreSQL checks the right to execute
 * a function before it evaluates the condition around it.
 */
export function rollUp(database: Database, eventsMax = eventsPerRollUpMax): Promise<number> {
  return rollUpIfDue(database, sql<Rolled>`select reports.roll_up(${eventsMax}) as rolled`)
}

/** The same, but waits while another session rolls up. Returns 0 only when the reports have everything. */
export function rollUpInTurn(database: Database): Promise<number> {
  return rollUpIfDue(database, sql<Rolled>`select reports.roll_up_in_turn(${eventsPerRollUpMax}) as rolled`)
}

interface Rolled {
  readonly rolled: number
}

function rollUpIfDue(database: Database, call: RawBuilder<Rolled>): Promise<number> {
  return readOrFault('the roll-up of the reports', async () => {
    const { rows: due } = await sql<{ due: boolean }>`
      select p.upto_seq < h.seq and current_setting('transaction_read_only') = 'off'
        and has_function_privilege('reports.roll_up(integer)', 'execute') as due
      from reports.progress p cross join ledger.head h`.execute(database)
    if (due[0]?.due !== true) return 0
    const { rows } = await call.execute(database)
    return rows[0]?.rolled ?? 0
  })
}

/** Position of the projection, and the end of the ledger. */
export async function reportPosition(database: Database): Promise<ReportPosition> {
  const row = await readOrFault('the position of the reports', async () => {
    const { rows } = await sql<{ position: number; head: number }>`
      select p.upto_seq as position, h.seq as head from reports.progress p cross join ledger.head h`.execute(database)
    return rows[0]
  })
  return { position: row?.position ?? 0, headPosition: row?.head ?? 0 }
}
