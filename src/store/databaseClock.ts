import { sql } from 'kysely'
import { assertPresent } from '@tollbook/core/assert'
import { type Database, readOrFault } from './database.ts'

/** Unix time in milliseconds, for comparison with the clock of this machine. */
export async function readDatabaseClockMs(database: Database): Promise<number> {
  const { rows } = await readOrFault('the clock of the database', () =>
    sql<{ clock_ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as clock_ms`.execute(
      database,
    ),
  )
  return assertPresent(rows[0], 'a clock is answered').clock_ms
}
