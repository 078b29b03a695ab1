import { execFile } from 'node:child_process'
import { cp, rm, writeFile, chmod } from 'node:fs/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { assertPresent } from '@tollbook/core/assert'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@tollbook/sandbox/postgres/embeddedPostgres'
import { silentLog } from '../../../src/machine/log.ts'
import { migrate } from '../../../src/store/migrate.ts'
import { awaitThat } from '../../support/awaitThat.ts'
import { createDatabaseTemplate } from '../../support/databaseTemplate.ts'
import { makeTemporaryDirectory } from '../../support/temporaryDirectory.ts'
import { cloneTemplate, type TestDatabase } from '../../support/testDatabase.ts'

/** Postgres clusters of one system identifier: a primary, standbys, and backups of it. */
export interface Replicas extends AsyncDisposable {
  readonly primary: EmbeddedPostgres
  createDatabase(): Promise<TestDatabase>
  /** A standby of the primary that it reaches at this port. */
  addStandby(primaryPort: number): Promise<EmbeddedPostgres>
  /** Copies the files of the running primary, as a backup tool does. */
  backUp(): Promise<Backup>
}

export interface Backup {
  /** Starts a server on the files: the state at the end of the backup. */
  restore(): Promise<EmbeddedPostgres>
}

const settings = {
  max_connections: '100',
  wal_keep_size: '256MB',
  wal_receiver_timeout: '5s',
  wal_sender_timeout: '5s',
}

export async function startReplicas(): Promise<Replicas> {
  await using opened = new AsyncDisposableStack()
  const directory = await makeTemporaryDirectory()
  opened.defer(directory.remove)
  const primaryDirectory = `${directory.path}/primary`
  const primary = await startEmbeddedPostgres({ dataDirectory: primaryDirectory, log: silentLog, settings })
  opened.defer(() => primary.stop())
  const template = await createDatabaseTemplate({ adminUrl: primary.adminUrl, migrate })
  // The service counts its standbys (REQUIRE_SYNCHRONOUS_STANDBY); a superuser grants that once.
  await ask(primary.adminUrl, 'grant pg_read_all_stats to tollbook_service')
  let copies = 0
  const copy = async (): Promise<string> => {
    const path = `${directory.path}/copy${++copies}`
    await copyFiles(primary.adminUrl, { from: primaryDirectory, to: path })
    return path
  }
  const startCopy = async (dataDirectory: string, more: Readonly<Record<string, string>> = {}) => {
    const server = await startEmbeddedPostgres({ dataDirectory, log: silentLog, settings: { ...settings, ...more } })
    stops.defer(() => server.stop())
    return server
  }
  const disposables = opened.move()
  const stops = new AsyncDisposableStack()
  disposables.use(stops)
  return {
    primary,
    createDatabase: () => cloneTemplate(template),
    async addStandby(primaryPort) {
      const dataDirectory = await copy()
      // The file makes a server a standby; the account that runs Postgres must read it.
      await writeFile(`${dataDirectory}/standby.signal`, '')
      await chmod(`${dataDirectory}/standby.signal`, 0o644)
      const { username, password } = new URL(primary.adminUrl)
      const primary_conninfo = `host=127.0.0.1 port=${primaryPort} user=${username} password=${password} application_name=standby${copies}`
      return startCopy(dataDirectory, { primary_conninfo, hot_standby: 'on', wal_retrieve_retry_interval: '200ms' })
    },
    async backUp() {
      const dataDirectory = await copy()
      return { restore: () => startCopy(dataDirectory) }
    },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  }
}

interface Copying {
  readonly from: string
  readonly to: string
}

/** The low-level backup of the manual; the npm package has no pg_basebackup. */
async function copyFiles(adminUrl: string, { from, to }: Copying): Promise<void> {
  const session = new pg.Client({ connectionString: adminUrl })
  await session.connect()
  try {
    await session.query("select pg_backup_start('copy', true)")
    await copyTolerantly(from, to)
    const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await writeFile(`${to}/backup_label`, assertPresent(rows[0], 'a backup has a label').labelfile)
    await chmod(`${to}/backup_label`, 0o644)
    // The log up to the end of the backup was written after the files were copied.
    await copyTolerantly(`${from}/pg_wal`, `${to}/pg_wal`)
    await cp(`${from}.password`, `${to}.password`, { preserveTimestamps: true })
  } finally {
    await session.end()
  }
  await rm(`${to}/postmaster.pid`, { force: true })
  await rm(`${to}/postmaster.opts`, { force: true })
  // A copy that root made belongs to root, and Postgres runs as another user then.
  await promisify(execFile)('chown', ['-R', '--reference', from, to])
}

const triesMax = 5

/** A running server removes temporary files while they are being copied. */
async function copyTolerantly(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await cp(from, to, { recursive: true, force: true, filter: (path) => !/pgsql_tmp|pg_internal\.init/.test(path) })
      return
    } catch (error) {
      if (attempt === triesMax) throw error
    }
  }
}

/** Runs one statement as the superuser and ends the session. */
export async function ask<Row extends pg.QueryResultRow>(url: string, text: string): Promise<readonly Row[]> {
  const session = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  session.on('error', () => undefined)
  await session.connect()
  try {
    return (await session.query<Row>(text)).rows
  } finally {
    await session.end()
  }
}

/** Every acknowledged commit is then on at least one of the standbys. */
export async function requireStandby(server: EmbeddedPostgres, standbys: number): Promise<void> {
  await ask(server.adminUrl, "alter system set synchronous_standby_names = 'ANY 1 (*)'")
  await ask(server.adminUrl, 'select pg_reload_conf()')
  await awaitThat(`${standbys} standbys are attached`, async () => (await countStandbys(server)) === standbys)
}

async function countStandbys(server: EmbeddedPostgres): Promise<number> {
  const [row] = await ask<{ count: number }>(
    server.adminUrl,
    "select count(*)::int as count from pg_stat_replication where state = 'streaming'",
  )
  return row?.count ?? 0
}

/** The standby that has received the most, as a failover manager chooses it. */
export async function mostAdvanced(standbys: readonly EmbeddedPostgres[]): Promise<EmbeddedPostgres> {
  const received = await Promise.all(
    standbys.map(async (standby) => {
      const [row] = await ask<{ bytes: string }>(
        standby.adminUrl,
        "select pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), '0/0'), '0/0')::text as bytes",
      )
      return { standby, bytes: BigInt(row?.bytes ?? 0) }
    }),
  )
  const [first] = received.toSorted((a, b) => (a.bytes > b.bytes ? -1 : 1))
  return assertPresent(first, 'there is a standby').standby
}

export async function promote(standby: EmbeddedPostgres): Promise<void> {
  await ask(standby.adminUrl, 'select pg_promote(true, 30)')
}
