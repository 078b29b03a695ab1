import { assertPresent } from '@tollbook/core/assert'
import { type Database, readRows } from './database.ts'

/** Unix time in milliseconds, for comparison with the clock of this machine. */
export async function readDatabaseClockMs(database: Database): Promise<number> {
  const rows = await readRows(database, 'the clock of the database')<{
    clock_ms: number
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as clock_ms`
  return assertPresent(rows[0], 'a clock is answered').clock_ms
}
