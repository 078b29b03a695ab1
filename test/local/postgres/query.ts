import { withAdminSession } from '../../support/adminSession.ts'

/** The first column of all rows, as text, by one short session. */
export async function queryColumn(url: string, sql: string): Promise<readonly string[]> {
  return withAdminSession(url, async (session) => {
    const { rows } = await session.query<unknown[]>({ text: sql, rowMode: 'array' })
    return rows.map((row) => String(row[0]))
  })
}
