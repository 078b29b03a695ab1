import { Client } from 'pg'

/** One short session of the harness itself; its name distinguishes it from the sessions of the code under test. */
export async function withAdminSession<T>(url: string, work: (session: Client) => Promise<T>): Promise<T> {
  const session = new Client({
    connectionString: url,
    application_name: 'test-harness',
    connectionTimeoutMillis: 120_000,
  })
  await session.connect()
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}
