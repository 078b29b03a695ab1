import { systemClock } from '@tollbook/core/clock'
import { claimDirectory } from '@tollbook/localnet/directoryClaim'
import type { Log } from '@tollbook/localnet/log'
import { findAccount } from './systemUser.ts'
import { findPackage, linkBinaries } from './binaries.ts'
import { prepareDataDirectory, resolveDataDirectory } from './dataDirectory.ts'
import { choosePort } from './freePort.ts'
import { endEarlierPostmaster, launchPostmaster } from './postmaster.ts'
import { type Supervisor, supervisePostmaster } from './supervisor.ts'

export interface EmbeddedPostgresOptions {
  /** Created if absent. Some of our files are next to the directory, prefixed with its name. */
  readonly dataDirectory: string
  /** 0 or absent: any free port. */
  readonly port?: number
  readonly log: Log
  /** Further settings as in postgresql.conf. They override ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called when Postgres died and the supervisor has given up restarting it. */
  readonly onLost?: (error: Error) => void
  /** Directory of the npm package with the binaries. Default: the package for this machine. */
  readonly packageDirectory?: string
}

export interface EmbeddedPostgres {
  /** URL of the superuser with its password: loopback TCP, database `postgres`. */
  readonly adminUrl: string
  readonly port: number
  /** Current process id of the postmaster. A restart changes it. */
  readonly pid: () => number
  urlFor(options: DatabaseLogin): string
  /** Fast shutdown. Resolves when Postgres is down. Call it last, because it ends all open sessions. */
  stop(): Promise<void>
  /** Sends SIGKILL without a restart, as if the machine were lost. The data directory stays. */
  kill(): Promise<void>
}

interface DatabaseLogin {
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Settings on the command line, so that a file in the data directory cannot change them. */
const ourSettings = {
  listen_addresses: '127.0.0.1',
  // No socket files, so that loopback TCP with a password is the only access.
  unix_socket_directories: '',
  // Set explicitly, because the ledger asserts durability (design, 3).
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  default_text_search_config: 'pg_catalog.simple',
  // `log` ranks above ERROR. Refused claims are frequent, and an ERROR in the log would include the text of the
  // statement.
  log_min_messages: 'log',
  log_line_prefix: '',
}

/**
 * Starts a real Postgres from npm under our supervision, one per data directory. It restarts when it dies, and shuts
 * down when this process ends. A pool must have an `error` handler, because a stop or restart cuts its idle
 * connections.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await using opened = new AsyncDisposableStack()
  const { log, onLost } = options
  const binaries = await linkBinaries(options.packageDirectory ?? findPackage())
  const dataDirectory = await resolveDataDirectory(options.dataDirectory)
  const claim = claimDirectory(dataDirectory)
  opened.defer(() => claim.release())
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
    return `postgres://${user}:${secret}@127.0.0.1:${port}/${database}`
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
