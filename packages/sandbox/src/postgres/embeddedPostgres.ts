import { systemClock } from '@tollbook/core/clock'
import { lockDirectory } from '@tollbook/localnet/directoryLock'
import type { Log } from '@tollbook/localnet/log'
import { findAccount } from './systemUser.ts'
import { findPackage, linkBinaries } from './binaries.ts'
import { prepareDataDirectory, resolveDataDirectory } from './dataDirectory.ts'
import { choosePort } from './freePort.ts'
import { endEarlierPostmaster, launchPostmaster } from './postmaster.ts'
import { type Supervisor, supervisePostmaster } from './supervisor.ts'

export interface EmbeddedPostgresOptions {
  /** Data directory. Created if absent. The password and lock files are next to it, prefixed with its name. */
  readonly dataDirectory: string
  /** Port of the server. 0 or absent: any free port. */
  readonly port?: number
  readonly log: Log
  /** Additional settings as in postgresql.conf. They override the default settings. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called if Postgres has ended and the supervisor has given up restarting it. */
  readonly onLost?: (error: Error) => void
  /** Directory of the npm package with the binaries. Default: the package for this machine. */
  readonly packageDirectory?: string
}

export interface EmbeddedPostgres {
  /** URL of the superuser with its password: loopback TCP, database `postgres`. */
  readonly adminUrl: string
  readonly port: number
  /** A restart changes the process ID. */
  readonly pid: () => number
  urlFor(options: DatabaseLogin): string
  /** Call it last, because a fast shutdown ends all open sessions. Resolves when Postgres has ended. */
  stop(): Promise<void>
  /** Kills Postgres by SIGKILL without a restart. The data directory remains. */
  kill(): Promise<void>
}

interface DatabaseLogin {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** These settings are on the command line, so that a file in the data directory cannot change them. */
const ourSettings = {
  listen_addresses: '127.0.0.1',
  // Create no socket files, so that loopback TCP with a password is the only access.
  unix_socket_directories: '',
  // Set durability explicitly, because the ledger requires it (design, 3).
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  default_text_search_config: 'pg_catalog.simple',
  // Do not log errors: `log` ranks above ERROR. Refused claims are frequent, and the log of an ERROR would include the
  // text of the statement.
  log_min_messages: 'log',
  log_line_prefix: '',
}

/**
 * Starts a server that is restarted if it ends, and shut down when this process ends. A pool needs an `error` handler,
 * because a stop or restart closes its idle connections.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await using opened = new AsyncDisposableStack()
  const { log, onLost } = options
  const binaries = await linkBinaries(options.packageDirectory ?? findPackage())
  const dataDirectory = await resolveDataDirectory(options.dataDirectory)
  const lock = lockDirectory(dataDirectory)
  opened.defer(() => lock.release())
  await endEarlierPostmaster(dataDirectory, log)
  const account = await findAccount(binaries, dataDirectory)
  const password = await prepareDataDirectory({ dataDirectory, account, binaries })
  const port = await choosePort(options.port ?? 0)
  const settings = { ...ourSettings, ...options.settings, port: String(port) }
  const supervisor = await supervisePostmaster({
    launch: () => launchPostmaster({ dataDirectory, account, binaries, settings, log }),
    onLost: (error) => onLost?.(error),
    log,
    clock: systemClock,
  })
  const postmasterPid = supervisor.pid()
  log.info({ event: 'embedded_postgres_ready', dataDirectory, port, postmasterPid, account: account.name })
  return serverOf(supervisor, { password, port, opened: opened.move() })
}

interface OpenedServer {
  readonly password: string
  readonly port: number
  readonly opened: AsyncDisposableStack
}

function serverOf(supervisor: Supervisor, { password, port, opened }: OpenedServer): EmbeddedPostgres {
  const urlFor = (login: DatabaseLogin): string => {
    const [user, secret, database] = [login.user, login.password, login.database].map(encodeURIComponent)
    // State the mode, because drivers would otherwise take it from PGSSLMODE, and the server has no certificate.
    return `postgres://${user}:${secret}@127.0.0.1:${port}/${database}?sslmode=disable`
  }
  let ended: Promise<void> | undefined
  const release = async (end: () => Promise<void>): Promise<void> => {
    await using _claim = opened
    await end()
  }
  return {
    adminUrl: urlFor({ user: 'postgres', password, database: 'postgres' }),
    port,
    pid: supervisor.pid,
    urlFor,
    stop: () => (ended ??= release(supervisor.stop)),
    kill: () => (ended ??= release(supervisor.kill)),
  }
}
