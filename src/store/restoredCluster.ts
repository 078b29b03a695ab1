import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'

/** Logins of a restored cluster, which its configuration does not state. */
export interface RestoredLogins {
  readonly service: string | null
  /** The owner of the ledger. Null if the database has no ledger. */
  readonly owner: string | null
}

/** True if the server accepts connections and has replayed its whole write-ahead log. */
export async function isRestored(url: string): Promise<boolean> {
  try {
    const rows = await ask<{ replays: boolean }>(url, 'select pg_is_in_recovery() as replays')
    return rows[0]?.replays === false
  } catch (error) {
    // Fail at once, because waiting does not create a missing login.
    if (error instanceof pg.DatabaseError && error.code === invalidLogin) throw error
    return false
  }
}

const invalidLogin = '28000'

/** A physical backup contains the roles, so the logins have the same names as in the original cluster. */
export async function readRestoredLogins(url: string): Promise<RestoredLogins> {
  const rows = await ask<RestoredLogins>(
    url,
    `select (
        select login.rolname from pg_catalog.pg_roles login
        where login.rolcanlogin and not login.rolsuper and pg_catalog.pg_has_role(login.oid, 'tollbook_service', 'usage')
        order by login.rolname limit 1) as service,
      (select pg_catalog.pg_get_userbyid(relowner) from pg_catalog.pg_class
        where oid = to_regclass('ledger.events')) as owner`,
  )
  return assertPresent(rows[0], 'the query returns one row')
}

const connectTimeoutMs = 5_000

async function ask<Row extends pg.QueryResultRow>(url: string, text: string): Promise<readonly Row[]> {
  const session = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
  session.on('error', () => undefined)
  await session.connect()
  try {
    return (await session.query<Row>(text)).rows
  } finally {
    await session.end()
  }
}
