import type { Client } from 'pg'
import { poll } from './poll.ts'
import { withAdminSession } from './adminSession.ts'
import { type DatabaseTemplate, databaseUrl, newDatabaseName, roleUrl } from './databaseTemplate.ts'

/** A migrated database for one owner. */
export interface TestDatabase {
  readonly name: string
  /** The superuser's, for what no role of ours may do. */
  readonly adminUrl: string
  /** `tollbook_owner`: owns the database and ran the migrations. */
  readonly ownerUrl: string
  /** `tollbook_api`: what the service itself uses. */
  readonly serviceUrl: string
  /** Throws if a session is still open after a while. Called after the file automatically; the second call does nothing. */
  readonly drop: (goodbyeTimeoutMs?: number) => Promise<void>
}

/** Copies the template: the data files and nothing that belongs to the server, such as grants on the database itself. */
export async function cloneTemplate(template: DatabaseTemplate): Promise<TestDatabase> {
  const { adminUrl } = template
  const name = newDatabaseName('tollbook_test')
  // The default writes 5.5 MB of WAL for each copy, and the drop then waits for them: twice the time, measured.
  await withAdminSession(adminUrl, (admin) =>
    admin.query(`create database ${name} template ${template.name} owner tollbook_owner strategy file_copy`),
  )
  return openedDatabase(adminUrl, name)
}

/** A database that exists. */
export function openedDatabase(adminUrl: string, name: string): TestDatabase {
  let isDropped = false
  return {
    name,
    adminUrl: databaseUrl(adminUrl, name),
    ownerUrl: roleUrl({ adminUrl, role: 'tollbook_owner', database: name }),
    serviceUrl: roleUrl({ adminUrl, role: 'tollbook_api', database: name }),
    drop: async (goodbyeTimeoutMs = 30_000) => {
      if (isDropped) return
      isDropped = true
      await dropDatabase(adminUrl, { name, goodbyeTimeoutMs })
    },
  }
}

interface Dropped {
  readonly name: string
  readonly goodbyeTimeoutMs: number
}

/** All in one session: a login takes 10 ms of processor time, and hundreds of files drop a database. */
function dropDatabase(adminUrl: string, { name, goodbyeTimeoutMs }: Dropped): Promise<void> {
  return withAdminSession(adminUrl, async (admin) => {
    // A client's end() returns a moment before the server has let the session go.
    const isFree = await poll({
      probe: async () => (await openSessions(admin, name)).length === 0 || undefined,
      timeoutMs: goodbyeTimeoutMs,
    })
    const leaks = isFree ? [] : await openSessions(admin, name)
    await admin.query(`drop database if exists ${name} with (force)`)
    if (leaks.length === 0) return
    throw new Error(
      `this test file left ${leaks.length} database sessions open; end each pool it made:\n${leaks.join('\n')}`,
    )
  })
}

async function openSessions(admin: Client, name: string): Promise<readonly string[]> {
  const { rows } = await admin.query<{ session: string }>(
    `select format('%s: %s, %s, last query: %s', coalesce(nullif(application_name, ''), 'unnamed'), usename, state, left(query, 120)) as session
     from pg_stat_activity
     where datname = $1 and backend_type = 'client backend'`,
    [name],
  )
  return rows.map((row) => row.session)
}
