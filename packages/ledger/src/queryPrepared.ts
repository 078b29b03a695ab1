import type pg from 'pg'
import { type QueryRunner, sqlState } from './database.ts'

export type PreparedQuery = pg.QueryConfig & { readonly name: string; readonly rowMode?: 'array' }

// A pooler in transaction mode gave the statement to another session than the one that had prepared it.
const invalidStatementName = '26000'
const duplicateStatement = '42P05'

const unprepared = new WeakSet<QueryRunner>()

/**
 * Runs a prepared statement, or parses it each time where prepared statements get lost: slower, and it works behind every
 * pooler. A statement that failed for its name has not run, so it is sent again at once.
 */
export async function queryPrepared<Row extends pg.QueryResultRow | unknown[]>(
  runner: QueryRunner,
  query: PreparedQuery,
): Promise<{ readonly rows: Row[] }> {
  const { name, ...plain } = query
  if (unprepared.has(runner)) return runner.query<Row>(plain)
  try {
    return await runner.query<Row>(query)
  } catch (error) {
    const code = sqlState(error)
    if (code !== invalidStatementName && code !== duplicateStatement) throw error
    unprepared.add(runner)
    return runner.query<Row>(plain)
  }
}
