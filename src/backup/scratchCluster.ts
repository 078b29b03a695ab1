import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@tollbook/core/clock'
import { Fault } from '@tollbook/core/fault'
import { isRestored } from '../store/restoredCluster.ts'
import { type Repository, restoreBackup } from './pgBackRest.ts'

export interface ScratchOptions {
  readonly repository: Repository
  /** Folder of the Postgres programs. Undefined: the folder that Debian uses for the version of the backup. */
  readonly programs: string | undefined
  readonly scratchFolder: string
  readonly superuser: string
  /** Time at which the replay ends. Undefined: it ends at the end of the archive. */
  readonly targetMs: number | undefined
  /** Folder into which pg_receivewal writes segments that are not archived yet. Undefined: only the archive is replayed. */
  readonly receivedWal: string | undefined
  readonly clock: Clock
}

/** A cluster that other users cannot reach. It has no port, and its socket is in a folder that is closed to others. */
export interface ScratchCluster extends AsyncDisposable {
  urlOf(login: string, database: string): string
}

/** Restores a backup into a new folder and starts a cluster. The folder is removed with the cluster. */
export async function startScratchCluster(options: ScratchOptions): Promise<ScratchCluster> {
  const { repository, superuser, targetMs, receivedWal } = options
  await using opened = new AsyncDisposableStack()
  const place = await mkdtemp(join(options.scratchFolder, 'tollbook-drill-')).catch((cause: unknown) => {
    throw new Fault(`--scratch: no folder can be created in ${options.scratchFolder}`, { cause, retryable: false })
  })
  opened.defer(() => rm(place, { recursive: true, force: true }))
  requireShortPath(place)
  const dataDirectory = join(place, 'data')
  await restoreBackup(repository, { dataDirectory, tablespaces: join(place, 'tablespaces'), targetMs })
  const version = (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).trim()
  const program = join(options.programs ?? `/usr/lib/postgresql/${version}/bin`, 'postgres')
  await writeFile(join(place, 'postgresql.conf'), '')
  // Allow all local connections, because the folder of the socket is closed to other users.
  await writeFile(join(place, 'pg_hba.conf'), 'local all all trust\n')
  const archive = `pgbackrest --stanza=${inCommand(repository.stanza)} --pg1-path=${inCommand(dataDirectory)} --log-level-file=off archive-get %f "%p"`
  const restoreCommand = receivedWal === undefined ? archive : `${archive} || ${receivedCommand(receivedWal)}`
  const server = opened.use(startServer({ program, place, restoreCommand }))
  const urlOf = (login: string, database: string): string =>
    `postgres://${encodeURIComponent(login)}@/${encodeURIComponent(database)}?host=${encodeURIComponent(place)}`
  await awaitRestored(options, { url: urlOf(superuser, 'postgres'), server })
  const disposables = opened.move()
  return { urlOf, [Symbol.asyncDispose]: () => disposables.disposeAsync() }
}

/**
 * Returns the command that copies a received segment. The segment that was still being received has the suffix
 * `.partial`, and contains the log up to its end.
 */
function receivedCommand(folder: string): string {
  const segment = `${inCommand(folder)}/%f`
  return `cp ${segment} "%p" || cp ${segment}.partial "%p"`
}

/** Quotes the text for the shell, and doubles the percent signs, which Postgres would replace. */
function inCommand(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`).replaceAll('%', '%%')}'`
}

// Maximum length of the socket's folder: the kernel's limit on the path of a socket, minus the name of the socket.
const socketFolderMax = 107 - '/.s.PGSQL.5432'.length

function requireShortPath(place: string): void {
  if (Buffer.byteLength(place) <= socketFolderMax) return
  throw new Fault(`the path ${place} is too long for a socket: name a shorter one with --scratch`, { retryable: false })
}

interface ServerOptions {
  readonly program: string
  readonly place: string
  readonly restoreCommand: string
}

interface Server extends AsyncDisposable {
  /** Returns the end of the server's log if the server has ended. Undefined while it runs. */
  failure(): string | undefined
}

/*
 * Command that starts Postgres under a shell. The shell sends Postgres a fast shutdown when the pipe from this process
 * closes. The kernel closes the pipe even if this process is killed. If Postgres ends first, the shell ends too.
 */
const watchdog =
  'exec 3<&0; "$@" </dev/null & pid=$!; (cat <&3 >/dev/null; kill -INT $pid) & guard=$!; wait $pid; code=$?; kill $guard; exit $code'

const logCharactersMax = 4_000

function startServer({ program, place, restoreCommand }: ServerOptions): Server {
  const settings = Object.entries({ ...settingsOf(place), restore_command: restoreCommand }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  )
  const child = spawn('sh', ['-c', watchdog, 'sh', program, '-D', join(place, 'data'), ...settings], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    // Use a separate process group, so that Ctrl-C reaches only this command, which then stops the server.
    detached: true,
  })
  let log = ''
  let hasEnded = false
  child.stderr.on('data', (chunk: Buffer) => void (log = `${log}${chunk.toString()}`.slice(-logCharactersMax)))
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close').then(
    () => void (hasEnded = true),
    (error: unknown) => {
      log += String(error)
      hasEnded = true
    },
  )
  return {
    failure: () => (hasEnded ? log : undefined),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}

/**
 * Returns settings for the command line. They override postgresql.auto.conf, which contains what ALTER SYSTEM set on
 * the original server.
 */
function settingsOf(place: string): Readonly<Record<string, string>> {
  return {
    config_file: join(place, 'postgresql.conf'),
    hba_file: join(place, 'pg_hba.conf'),
    listen_addresses: '',
    unix_socket_directories: place,
    unix_socket_permissions: '0700',
    port: '5432',
    recovery_target_action: 'promote',
    // Disable hot standby, because a standby with smaller limits than its primary would pause the replay.
    hot_standby: 'off',
    // Disable archiving and replication, so that this server sends nothing and does not wait for another server.
    archive_mode: 'off',
    archive_cleanup_command: '',
    recovery_end_command: '',
    primary_conninfo: '',
    primary_slot_name: '',
    synchronous_standby_names: '',
    shared_preload_libraries: '',
    session_preload_libraries: '',
    local_preload_libraries: '',
    ssl: 'off',
    external_pid_file: '',
    logging_collector: 'off',
    log_destination: 'stderr',
    shared_buffers: '64MB',
    huge_pages: 'off',
    max_connections: '40',
  }
}

const pollMs = 100
// Maximum number of polls. 36,000 polls, one every 100 ms, are an hour of replay.
const pollsMax = 36_000

async function awaitRestored(
  { clock, repository: { interrupted } }: ScratchOptions,
  { url, server }: { readonly url: string; readonly server: Server },
): Promise<void> {
  for (let poll = 0; poll < pollsMax; poll++) {
    const failure = server.failure()
    if (failure !== undefined)
      throw new Fault(`the restored cluster does not start: ${failure.trim()}`, { retryable: false })
    if (await isRestored(url)) return
    await clock.sleep(pollMs, interrupted)
  }
  throw new Fault('the backup was not restored within an hour', { retryable: true })
}
