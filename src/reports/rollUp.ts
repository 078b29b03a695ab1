import { type RawBuilder, sql } from 'kysely'
import { type Database, assertRow, readRows } from '../store/database.ts'

/** The two positions differ while the roll-up has a backlog. */
export interface ReportPosition {
  readonly position: number
  readonly headPosition: number
}

// Maximum of events in one roll-up. It is bounded, because requests wait for the roll-up, and it locks the progress row
// for other sessions.
export const eventsPerRollUpMax = 10_000

/**
 * Adds new events to the tables of the reports, and returns their number. The append does not maintain these tables,
 * because every claim would then pay for them. Returns 0 in a read-only session, and while another session rolls up.
 * The check for new events comes first, because taking the lock is a write. It is a separate statement, because
 * PostgreSQL checks the right to execute a function before it evaluates the condition.
 */
export function rollUp(database: Database, eventsMax = eventsPerRollUpMax): Promise<number> {
  return rollUpIfDue(database, sql<Rolled>`select reports.roll_up(${eventsMax}) as rolled`)
}

/**
 * Rolls up new events, after the roll-up of another session has ended. Returns 0 if the reports contain all events, in
 * a read-only session, and without the right to roll up.
 */
export function rollUpInTurn(database: Database): Promise<number> {
  return rollUpIfDue(database, sql<Rolled>`select reports.roll_up_in_turn(${eventsPerRollUpMax}) as rolled`)
}

interface Rolled {
  readonly rolled: number
}

async function rollUpIfDue(database: Database, call: RawBuilder<Rolled>): Promise<number> {
  const what = 'the roll-up of the reports'
  const [state] = await readRows(database, what)<{ due: boolean }>`
    select p.upto_seq < h.seq and current_setting('transaction_read_only') = 'off'
      and has_function_privilege('reports.roll_up(integer)', 'execute') as due
    from reports.progress p cross join ledger.head h`
  return state?.due === true ? (await assertRow(database, what)<Rolled>`${call}`).rolled : 0
}

export async function reportPosition(database: Database): Promise<ReportPosition> {
  const [row] = await readRows(database, 'the position of the reports')<{ position: number; head: number }>`
    select p.upto_seq as position, h.seq as head from reports.progress p cross join ledger.head h`
  return { position: row?.position ?? 0, headPosition: row?.head ?? 0 }
}
