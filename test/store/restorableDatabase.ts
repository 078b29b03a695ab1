import type { Client } from 'pg'
import { withAdminSession } from '../support/adminSession.ts'
import { afterFile } from '../support/afterFile.ts'
import { databaseUrl } from '../support/databaseTemplate.ts'
import type { TestDatabase } from '../support/testDatabase.ts'

export interface RestorableDatabase extends TestDatabase {
  /** Copies the database as it is now. Its sessions are ended, as by a restart of the server. */
  backUp(): Promise<void>
  /** Replaces the database by the copy: the same server, name and address, with an older ledger. */
  restore(): Promise<void>
  /** Position of the newest event, read by the superuser. */
  headPosition(): Promise<number>
}

/** A database whose backup can be restored under running instances. */
export function restorableDatabase(database: TestDatabase): RestorableDatabase {
  const { name, adminUrl } = database
  const [backup, newer] = [`${name}_backup`, `${name}_newer`]
  const serverUrl = databaseUrl(adminUrl, 'postgres')
  // Two queries, because statements of one query are committed together: a new session would slip in between.
  async function endSessions(admin: Client): Promise<void> {
    await admin.query(`alter database ${name} with allow_connections false`)
    await admin.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
  }
  afterFile(() =>
    withAdminSession(serverUrl, async (admin) => {
      await admin.query(`drop database if exists ${newer} with (force)`)
    }),
  )
  return {
    ...database,
    backUp: () =>
      withAdminSession(serverUrl, async (admin) => {
        await endSessions(admin)
        await admin.query(`create database ${backup} template ${name} owner tollbook_owner`)
        await admin.query(`alter database ${name} with allow_connections true`)
      }),
    restore: () =>
      withAdminSession(serverUrl, async (admin) => {
        await endSessions(admin)
        await admin.query(`alter database ${name} rename to ${newer}`)
        await admin.query(`alter database ${backup} rename to ${name}`)
      }),
    headPosition: () =>
      withAdminSession(adminUrl, async (admin) => {
        const { rows } = await admin.query<{ seq: string }>('select seq from ledger.head')
        return Number(rows[0]?.seq)
      }),
  }
}
