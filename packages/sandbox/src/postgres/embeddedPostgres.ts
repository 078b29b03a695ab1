import type { Log } from '@tollbook/localnet/log'
import { findBinaries } from './binaries.ts'
import { startCluster } from './cluster.ts'

export interface EmbeddedPostgresOptions {
  /** Created if absent. Some of our files are next to it, prefixed with its name. */
  readonly dataDirectory: string
  /** 0 or absent: any free one. */
  readonly port?: number
  readonly log: Log
  /** Further settings as in postgresql.conf; they win over ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** It died and could not be restarted; the supervisor has stopped trying. */
  readonly onLost?: (error: Error) => void
}

export interface EmbeddedPostgres {
  /** The superuser's: loopback TCP, with its password, database `postgres`. */
  readonly adminUrl: string
  readonly port: number
  /** The postmaster's process id, now: it changes when the postmaster is restarted. */
  readonly pid: () => number
  urlFor(options: DatabaseLogin): string
  /** Fast shutdown; returns when it is down. Call it last: whatever still has a session is cut off. */
  stop(): Promise<void>
  /** kill -9 without a restart, as of a machine that is lost. The data directory stays. */
  kill(): Promise<void>
}

interface DatabaseLogin {
  readonly user: string
  readonly password: string
  readonly database: string
}

/**
 * A real Postgres, from npm, under our supervision: restarted when it dies, shut down when we die, one per data directory.
 * A pool must have an `error` handler: its idle connections are cut when Postgres stops or restarts.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await startCluster({ port: 0, settings: {}, ...options, binaries: await findBinaries() })
  const urlFor = (login: DatabaseLogin): string => databaseUrl(cluster.port, login)
  return {
    adminUrl: urlFor({ user: 'postgres', password: cluster.password, database: 'postgres' }),
    port: cluster.port,
    pid: cluster.pid,
    urlFor,
    stop: () => cluster.stop(),
    kill: () => cluster.kill(),
  }
}

function databaseUrl(port: number, login: DatabaseLogin): string {
  const [user, password, database] = [login.user, login.password, login.database].map(encodeURIComponent)
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
}
