import { sql } from 'kysely'
import type { Log } from '../machine/log.ts'
import { type Database, openDatabase, assertRow } from './database.ts'

/** Days before quotes are dropped. A payment may need its quote for 60 hours (migrations/functions/quote_retention.sql). */
export const quoteRetentionDays = 3

export interface QuoteRetention {
  /** Connection URL with a login of `tollbook_retention`, the only role that may drop quotes. */
  readonly databaseUrl: string
  readonly log: Log
}

/** Opens a separate connection, because only members of `tollbook_retention` may drop partitions. */
export async function dropOldQuotes({ databaseUrl, log }: QuoteRetention): Promise<readonly string[]> {
  const database = openDatabase({ databaseUrl, applicationName: 'tollbook retention', connectionsMax: 1, log })
  try {
    const { rows } = await sql<{ name: string }>`
      select d.name from ledger.drop_old_quotes(${quoteRetentionDays}) as d (name)`.execute(database)
    return rows.map(({ name }) => name)
  } finally {
    await database.destroy()
  }
}

export interface QuoteStorage {
  /** Size of the table in bytes, including indexes. */
  readonly bytes: number
  /** Age of the oldest day with quotes, in days. */
  readonly oldestDays: number
}

/** Reads the size of the quotes for a metric, because the table grows without a bound if the retention job does not run. */
export async function readQuoteStorage(database: Database): Promise<QuoteStorage> {
  const { bytes, oldest_days: oldestDays } = await assertRow(database, 'the size of the quotes')<{
    bytes: number
    oldest_days: number
  }>`select * from ledger.quote_storage()`
  return { bytes, oldestDays }
}
