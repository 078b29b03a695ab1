import { type QueryRunner, sqlState } from './database.ts'

// SQLSTATE of an unknown prepared statement: a pooler in transaction mode sent the statement to a session that had not
// prepared it.
const invalidStatementName = '26000'
const duplicateStatement = '42P05'

const unprepared = new WeakSet<QueryRunner>()

/**
 * Runs a query as a prepared statement of this name. If a pooler loses prepared statements, all later queries run
 * unprepared, which is slower. A statement that failed because of its name has not run, so it is sent again at once.
 */
export async function queryPrepared<T>(
  runner: QueryRunner,
  name: string,
  run: (statement: { readonly name?: string }) => Promise<T>,
): Promise<T> {
  if (unprepared.has(runner)) return run({})
  try {
    return await run({ name })
  } catch (error) {
    const code = sqlState(error)
    if (code !== invalidStatementName && code !== duplicateStatement) throw error
    unprepared.add(runner)
    return run({})
  }
}
